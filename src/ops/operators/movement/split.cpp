#include <numeric>

#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/elements/list_argument.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr ListArgument kSplit{"split", 1, 13};

int64_t axis_of(const Node& node, int64_t rank) { return normalize_axis(node.integer("axis", 0), rank); }

// Version 1 also takes the lengths as an input, which has the type of the data.
bool takes_float_lengths(const Infer& node) { return node.version() == 1 && node.has(1); }

std::optional<Dims> float_lengths(const Infer& node) {
  const tensor::Tensor* values = node.constant(1);
  if (!values) return std::nullopt;
  Dims lengths;
  for (const double value : load_elements<double>(*values)) {
    if (!(value >= 0 && value < 0x1p62)) fail(ErrorCode::shape, "{} is no length of a part", value);
    lengths.emplace_back(static_cast<int64_t>(value));
  }
  return lengths;
}

// Parts of equal length; from version 18 on the last one may be shorter.
Dims equal_lengths(const Infer& node, const Dim& dim) {
  const int64_t count = node.output_count();
  if (node.version() >= 18) {
    const int64_t wanted = node.integer("num_outputs", count);
    if (wanted != count) fail(ErrorCode::shape, "`num_outputs` is {}, the node has {} outputs", wanted, count);
  }
  Dims lengths(static_cast<size_t>(count), ceil_div(dim, count));
  if (count > 1) lengths.back() = dim - lengths.front() * Dim(count - 1);
  if (!dim.is_number()) return lengths;
  const bool fits = node.version() < 18 ? *dim.number() % count == 0 : *lengths.back().number() >= 0;
  if (!fits) fail(ErrorCode::shape, "{} elements cannot be split into {} parts", *dim.number(), count);
  return lengths;
}

void check_lengths(const Infer& node, const Dims& lengths, const Dim& dim) {
  if (lengths.size() != node.output_count()) {
    fail(ErrorCode::shape, "`split` has {} lengths, the node has {} outputs", lengths.size(), node.output_count());
  }
  Dim sum = 0;
  for (const Dim& length : lengths) {
    if (length.is_number() && *length.number() < 0)
      fail(ErrorCode::shape, "`split` has a negative length: {}", text(lengths));
    sum = sum + length;
  }
  const bool overflows = !sum.is_number() && numbers(lengths).has_value();
  const bool fits = !overflows && (!sum.is_number() || !dim.is_number() || sum.equals(dim));
  if (!fits)
    fail(ErrorCode::shape, "the lengths {} add up to {}, the axis has {}", text(lengths), sum.text(), dim.text());
}

void infer_part_elements(Infer& node, const Dims& lengths) {
  const std::optional<Elements> elements = node.elements(0);
  const std::optional<std::vector<int64_t>> known = numbers(lengths);
  if (!elements || !known || elements->shape.size() != 1) return;
  auto from = elements->items.begin();
  for (uint32_t i = 0; i < known->size(); ++i) {
    node.set_elements(i, {{(*known)[i]}, Dims(from, from + (*known)[i])});
    from += (*known)[i];
  }
}

void infer_split(Infer& node) {
  const bool is_listed = takes_float_lengths(node) || is_given(node, kSplit);
  if (node.version() >= 18 && is_listed && node.has_attribute("num_outputs")) {
    fail(ErrorCode::shape, "both `split` and `num_outputs` are given");
  }
  if (!node.is_ranked(0)) return;
  const Dims& dims = node.dims(0);
  const auto axis = static_cast<size_t>(axis_of(node, node.rank(0)));
  std::optional<Dims> lengths = takes_float_lengths(node) ? float_lengths(node) : known_list(node, kSplit);
  if (!is_listed) lengths = equal_lengths(node, dims[axis]);
  if (lengths) check_lengths(node, *lengths, dims[axis]);
  for (uint32_t i = 0; i < node.output_count(); ++i) {
    Dims part = dims;
    part[axis] = lengths ? (*lengths)[i] : Dim();
    node.set_dims(i, std::move(part));
  }
  if (lengths) infer_part_elements(node, *lengths);
}

void eval_split(Eval& node) {
  const auto axis = static_cast<size_t>(axis_of(node, node.rank(0)));
  const std::vector<int64_t> strides = row_major_strides(node.shape(0));
  int64_t at = 0;
  for (uint32_t i = 0; i < node.output_count(); ++i) {
    const Shape part = node.out_shape(i);
    if (node.wants(i)) node.set_tensor(i, copy_strided(node.tensor_in(0), part, at * strides[axis], strides));
    at += part[axis];
  }
}

}  // namespace

OperatorRows operator_movement_split() {
  static constexpr Operator kRows[] = {
      {.name = "Split", .traits = {Nature::movement, {.sizes = {1}}}, .infer = infer_split, .eval = eval_split},
  };
  return kRows;
}

}  // namespace assay::ops
