#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "ops/kernels/ml/key_places.h"
#include "ops/kernels/ml/ml_scores.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

DType cast_target(const Node& node) {
  const std::string_view name = node.string("cast_to");
  if (name == "TO_FLOAT") return DType::float32;
  if (name == "TO_STRING") return DType::string;
  if (name == "TO_INT64") return DType::int64;
  fail(ErrorCode::shape, "there is no cast `{}`", name);
}

bool is_sparse(const Node& node) {
  const std::string_view form = node.string("map_form");
  if (form == "DENSE" || form == "SPARSE") return form == "SPARSE";
  fail(ErrorCode::shape, "there is no form of maps `{}`", form);
}

void require_map(const Infer& node, DType key) {
  const Type& type = node.type(0);
  if (!type.known) return;
  const bool fits = type.kind == ir::TypeKind::map && (key == DType::undefined || type.dtype == key);
  if (!fits) fail(ErrorCode::shape, "the input must be a map, it is {}", type.text());
}

void infer_cast_map(Infer& node) {
  require_map(node, DType::int64);
  node.set_dtype(0, cast_target(node));
  if (!is_sparse(node)) return node.set_dims(0, {1, Dim()});
  if (node.integer("max_map") < 0) fail(ErrorCode::shape, "`max_map` is negative");
  node.set_dims(0, {1, node.integer("max_map")});
}

// Elements in the order of their keys, or each in the place of its key with `filler` between.
template <typename C>
void store_cast(Eval& node, const std::vector<C>& values, const C& filler) {
  if (!is_sparse(node)) return node.store(0, {1, static_cast<int64_t>(values.size())}, values);
  const std::vector<int64_t> keys = load_elements<int64_t>(node.datum(0).keys());
  const int64_t length = node.integer("max_map");
  std::vector<C> result(static_cast<size_t>(length), filler);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] < 0) fail(ErrorCode::shape, "key {} is negative", keys[i]);
    if (keys[i] < length) result[static_cast<size_t>(keys[i])] = values[i];
  }
  node.store(0, std::move(result));
}

double number_of(const std::string& text) {
  try {
    return std::stod(text);
  } catch (const std::exception&) {
    fail(ErrorCode::shape, "`{}` is no number", text);
  }
}

std::vector<double> numbers_of(const Tensor& values) {
  if (values.dtype() != DType::string) return load_elements<double>(values);
  std::vector<double> numbers;
  for (const std::string& text : values.strings()) numbers.push_back(number_of(text));
  return numbers;
}

std::vector<std::string> texts_of(const Tensor& values) {
  if (values.dtype() == DType::string) return load_elements<std::string>(values);
  std::vector<std::string> texts;
  for (const double value : load_elements<double>(values)) texts.push_back(fmt::format("{:f}", value));
  return texts;
}

int64_t truncated(double value) { return std::abs(value) < 0x1p63 ? static_cast<int64_t>(value) : INT64_MIN; }

void eval_cast_map(Eval& node) {
  const Tensor& values = node.datum(0).values();
  if (cast_target(node) == DType::string) return store_cast<std::string>(node, texts_of(values), "0.f");
  const std::vector<double> numbers = numbers_of(values);
  if (cast_target(node) == DType::float32) return store_cast(node, numbers, 0.0);
  std::vector<int64_t> integers;
  for (const double number : numbers) integers.push_back(truncated(number));
  store_cast<int64_t>(node, integers, 0);
}

struct Vocabulary : ClassLabels {
  explicit Vocabulary(const Node& node) : ClassLabels(class_labels(node, "int64_vocabulary", "string_vocabulary")) {
    if (count() == 0) fail(ErrorCode::shape, "there is no vocabulary");
  }
};

void infer_dict_vectorizer(Infer& node) {
  const auto vocabulary = node.read<Vocabulary>();
  require_map(node, vocabulary->dtype());
  const Type& type = node.type(0);
  if (type.known && type.element) node.set_dtype(0, type.element->dtype);
  node.set_dims(0, {1, static_cast<int64_t>(vocabulary->count())});
}

template <typename K>
void vectorize(Eval& node, const std::vector<K>& vocabulary) {
  const KeyPlaces<K> places(load_elements<K>(node.datum(0).keys()));
  const Tensor& values = node.datum(0).values();
  const auto pick = [&](const auto& zero) {
    using C = std::remove_cvref_t<decltype(zero)>;
    const std::vector<C> elements = load_elements<C>(values);
    std::vector<C> result(vocabulary.size());
    for (size_t i = 0; i < vocabulary.size(); ++i) {
      const std::optional<size_t> place = places.find(vocabulary[i]);
      if (place) result[i] = elements[*place];
    }
    node.store(0, std::move(result));
  };
  if (values.dtype() == DType::string) return pick(std::string());
  with_carrier(values.dtype(), pick);
}

void eval_dict_vectorizer(Eval& node) {
  const auto vocabulary = node.read<Vocabulary>();
  if (vocabulary->are_texts()) return vectorize(node, vocabulary->texts);
  vectorize(node, vocabulary->numbers);
}

// The labels in the order of maps, each with the column that its scores stand in.
class Columns {
 public:
  explicit Columns(const Node& node) {
    const ClassLabels labels = class_labels(node, "classlabels_int64s", "classlabels_strings");
    if (labels.count() == 0) fail(ErrorCode::shape, "there are no class labels");
    if (labels.are_texts())
      sort(labels.texts, labels.dtype());
    else
      sort(labels.numbers, labels.dtype());
  }

  const Tensor& keys() const { return keys_; }
  std::vector<double> sorted(std::span<const double> row) const {
    std::vector<double> values;
    for (const size_t column : order_) values.push_back(row[column]);
    return values;
  }

 private:
  template <typename K>
  void sort(const std::vector<K>& labels, DType dtype) {
    order_.resize(labels.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(order_, {}, [&](size_t i) { return labels[i]; });
    std::vector<K> keys;
    for (const size_t i : order_) keys.push_back(labels[i]);
    keys_ = make_rounded(dtype, {static_cast<int64_t>(labels.size())}, std::move(keys));
  }

  std::vector<size_t> order_;
  Tensor keys_;
};

void infer_zip_map(Infer& node) {
  const auto columns = node.read<Columns>();
  const Dim width = row_dims(node, 0).width;
  if (width.is_number())
    unify(width, static_cast<int64_t>(columns->keys().count()), "numbers of columns and class labels");
  const Type score = Type::tensor(DType::float32, Dims{});
  node.set_type(0, Type::sequence(Type::map(columns->keys().dtype(), score)));
}

void eval_zip_map(Eval& node) {
  const auto columns = node.read<Columns>();
  const Rows rows = load_rows(node, 0);
  std::vector<Datum> maps;
  for (uint64_t r = 0; r < rows.count; ++r) {
    Tensor values = make_rounded(node.stored(DType::float32), columns->keys().shape(), columns->sorted(rows.row(r)));
    maps.push_back(Datum::map(columns->keys(), std::move(values)));
  }
  node.set(0, Datum::sequence(std::move(maps)));
}

}  // namespace

OperatorRows operator_ml_maps() {
  constexpr std::string_view kMl = "ai.onnx.ml";
  static constexpr Operator kRows[] = {
      {.domain = kMl, .name = "CastMap", .traits = {Nature::container}, .infer = infer_cast_map, .eval = eval_cast_map},
      {.domain = kMl,
       .name = "DictVectorizer",
       .traits = {Nature::container},
       .infer = infer_dict_vectorizer,
       .eval = eval_dict_vectorizer},
      {.domain = kMl, .name = "ZipMap", .traits = {Nature::container}, .infer = infer_zip_map, .eval = eval_zip_map},
  };
  return kRows;
}

}  // namespace assay::ops
