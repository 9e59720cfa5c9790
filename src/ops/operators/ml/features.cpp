#include <algorithm>
#include <cmath>

#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/ml/ml_scores.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_extractor(Infer& node) {
  if (!node.all_ranked()) return;
  if (node.rank(0) == 0) fail(ErrorCode::shape, "the input must have a rank of 1 or more");
  const Dim count = product(node.dims(1));
  if (count.is(0)) fail(ErrorCode::shape, "there are no indices");
  Dims dims = node.rank(0) == 1 ? Dims{1, Dim()} : node.dims(0);
  dims.back() = count;
  node.set_dims(0, std::move(dims));
}

void eval_extractor(Eval& node) {
  const std::vector<int64_t> indices = node.integers_in(1);
  const int64_t width = node.shape(0).back();
  for (const int64_t index : indices) {
    if (index < 0 || index >= width)
      fail(ErrorCode::shape, "index {} is out of range, it must be from 0 to {}", index, width - 1);
  }
  const MoveFrom source(node.tensor_in(0));
  MoveTo target(node.tensor_in(0).dtype(), node.out_shape(0));
  const uint64_t rows = node.out_count(0) / indices.size();
  for (uint64_t at = 0; at < rows * indices.size(); ++at) {
    const uint64_t row = at / indices.size();
    target.copy(source, row * static_cast<uint64_t>(width) + static_cast<uint64_t>(indices[at % indices.size()]), at);
  }
  node.set_tensor(0, target.finish());
}

void eval_binarizer(Eval& node) {
  const double threshold = node.floating("threshold");
  elementwise<double>(node, [=](double x) { return x > threshold ? 1.0 : 0.0; });
}

void infer_vectorizer(Infer& node) {
  const std::vector<int64_t> widths = node.integers("inputdimensions");
  if (widths.size() != node.input_count()) {
    fail(ErrorCode::shape, "`inputdimensions` has {} numbers for {} inputs", widths.size(), node.input_count());
  }
  Dim width = 0;
  for (const int64_t part : widths) {
    if (part < 0) fail(ErrorCode::shape, "`inputdimensions` has the negative number {}", part);
    width = width + Dim(part);
  }
  Dim count;
  for (uint32_t i = 0; i < node.input_count(); ++i) count = unify(count, row_dims(node, i).count, "numbers of rows");
  node.set_dtype(0, DType::float32);
  node.set_dims(0, {count, width});
}

// Columns of all inputs side by side; each input is cut or filled with zeros to its width.
void eval_vectorizer(Eval& node) {
  const std::vector<int64_t> widths = node.integers("inputdimensions");
  const auto total = static_cast<uint64_t>(node.out_shape(0)[1]);
  std::vector<double> result(node.out_count(0));
  uint64_t at = 0;
  for (uint32_t i = 0; i < node.input_count(); ++i) {
    const Rows rows = load_rows(node, i);
    const uint64_t kept = std::min(rows.width, static_cast<uint64_t>(widths[i]));
    for (uint64_t r = 0; r < rows.count; ++r) {
      std::ranges::copy(rows.row(r).first(kept), result.begin() + static_cast<ptrdiff_t>(r * total + at));
    }
    at += static_cast<uint64_t>(widths[i]);
  }
  node.store(0, std::move(result));
}

// The length of a list that has one number for all features or one for each.
void check_per_feature(const Infer& node, size_t length, std::string_view name) {
  if (!node.is_ranked(0)) return;
  if (node.rank(0) == 0) fail(ErrorCode::shape, "the input must have a rank of 1 or more");
  const std::optional<int64_t> width = node.dims(0).back().number();
  if (length == 1 || !width || *width == static_cast<int64_t>(length)) return;
  fail(ErrorCode::shape, "`{}` has {} numbers for {} features", name, length, *width);
}

template <typename C>
struct Imputation {
  std::vector<C> values;
  C replaced;

  void store(Eval& node) const {
    std::vector<C> data = node.load<C>(0);
    const uint64_t width = data.empty() ? 1 : static_cast<uint64_t>(node.shape(0).back());
    for (uint64_t i = 0; i < data.size(); ++i) {
      bool goes = data[i] == replaced;
      if constexpr (std::is_floating_point_v<C>) goes = goes || (std::isnan(replaced) && std::isnan(data[i]));
      if (goes) data[i] = values[values.size() == 1 ? 0 : i % width];
    }
    node.store(0, std::move(data));
  }
};

struct Imputer {
  explicit Imputer(const Node& node)
      : integers{node.integers("imputed_value_int64s"), node.integer("replaced_value_int64")},
        floats{node.floats("imputed_value_floats"), node.floating("replaced_value_float")} {}
  Imputation<int64_t> integers;
  Imputation<double> floats;
};

void infer_imputer(Infer& node) {
  const auto imputer = node.read<Imputer>();
  const bool is_integer = tensor::is_integer(node.dtype(0));
  const std::string_view name = is_integer ? "imputed_value_int64s" : "imputed_value_floats";
  const size_t length = is_integer ? imputer->integers.values.size() : imputer->floats.values.size();
  if (node.dtype(0) != DType::undefined && length == 0) fail(ErrorCode::shape, "`{}` is missing", name);
  if (length != 0) check_per_feature(node, length, name);
  infer_same_as_first(node);
}

void eval_imputer(Eval& node) {
  const auto imputer = node.read<Imputer>();
  if (tensor::is_integer(node.dtype(0))) return imputer->integers.store(node);
  imputer->floats.store(node);
}

enum class Norm : uint8_t { largest, l1, l2 };

Norm norm_of(const Node& node) {
  const std::string_view name = node.string("norm");
  if (name == "MAX") return Norm::largest;
  if (name == "L1") return Norm::l1;
  if (name == "L2") return Norm::l2;
  fail(ErrorCode::shape, "there is no norm `{}`", name);
}

void infer_normalizer(Infer& node) {
  norm_of(node);
  row_dims(node, 0);
  node.set_dtype(0, DType::float32);
  infer_same_as_first(node);
}

// The divisor of a row: its largest element (with its sign), or the length of the row.
double norm_of_row(std::span<const double> row, Norm norm) {
  if (norm == Norm::largest) return *std::ranges::max_element(row);
  double sum = 0;
  for (const double x : row) sum += norm == Norm::l1 ? std::abs(x) : x * x;
  return norm == Norm::l1 ? sum : std::sqrt(sum);
}

void eval_normalizer(Eval& node) {
  const Norm norm = norm_of(node);
  Rows rows = load_rows(node, 0);
  for (uint64_t r = 0; r < rows.count && rows.width != 0; ++r) {
    const double divisor = norm_of_row(rows.row(r), norm);
    if (divisor == 0) continue;
    for (uint64_t i = 0; i < rows.width; ++i) rows.elements[r * rows.width + i] /= divisor;
  }
  node.store(0, std::move(rows.elements));
}

struct Scaling {
  explicit Scaling(const Node& node) : offsets(node.floats("offset")), scales(node.floats("scale")) {
    if (offsets.size() == scales.size() && !offsets.empty()) return;
    fail(ErrorCode::shape, "{} offsets and {} scales are given", offsets.size(), scales.size());
  }
  std::vector<double> offsets;
  std::vector<double> scales;
};

void infer_scaler(Infer& node) {
  check_per_feature(node, node.read<Scaling>()->offsets.size(), "offset");
  node.set_dtype(0, DType::float32);
  infer_same_as_first(node);
}

void eval_scaler(Eval& node) {
  const auto scaling = node.read<Scaling>();
  const size_t width = scaling->offsets.size();
  std::vector<double> data = node.load<double>(0);
  for (uint64_t i = 0; i < data.size(); ++i) {
    data[i] = (data[i] - scaling->offsets[i % width]) * scaling->scales[i % width];
  }
  node.store(0, std::move(data));
}

}  // namespace

OperatorRows operator_ml_features() {
  constexpr std::string_view kMl = "ai.onnx.ml";
  static constexpr Operator kRows[] = {
      {.domain = kMl,
       .name = "ArrayFeatureExtractor",
       .traits = {Nature::movement, {.indices = {1}}},
       .infer = infer_extractor,
       .eval = eval_extractor},
      {.domain = kMl,
       .name = "Binarizer",
       .traits = {Nature::learner},
       .infer = infer_same_as_first,
       .eval = eval_binarizer},
      {.domain = kMl,
       .name = "FeatureVectorizer",
       .traits = {Nature::learner},
       .infer = infer_vectorizer,
       .eval = eval_vectorizer},
      {.domain = kMl, .name = "Imputer", .traits = {Nature::learner}, .infer = infer_imputer, .eval = eval_imputer},
      {.domain = kMl,
       .name = "Normalizer",
       .traits = {Nature::learner},
       .infer = infer_normalizer,
       .eval = eval_normalizer},
      {.domain = kMl, .name = "Scaler", .traits = {Nature::learner}, .infer = infer_scaler, .eval = eval_scaler},
  };
  return kRows;
}

}  // namespace assay::ops
