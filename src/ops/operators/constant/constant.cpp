#include <string>

#include "ops/evaluate.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The values of a sparse tensor in their places; indices are places, or one row of coordinates each.
Tensor densify(const ir::SparseTensor& sparse) {
  const std::vector<int64_t> indices = load_elements<int64_t>(sparse.indices);
  const uint64_t count = sparse.values.count();
  const size_t rank = sparse.dims.size();
  const std::optional<uint64_t> total = tensor::element_count(sparse.dims);
  const bool by_place = sparse.indices.shape().size() <= 1;
  if (!total || indices.size() != count * (by_place ? 1 : rank)) {
    fail(ErrorCode::shape, "a sparse tensor with {} values has {} indices", count, indices.size());
  }
  const MoveFrom values(sparse.values);
  MoveTo result(sparse.values.dtype(), sparse.dims);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t place = by_place ? static_cast<uint64_t>(indices[i]) : 0;
    for (size_t a = 0; !by_place && a < rank; ++a) {
      const int64_t index = indices[i * rank + a];
      if (index < 0 || index >= sparse.dims[a]) place = *total;
      if (place < *total) place = place * static_cast<uint64_t>(sparse.dims[a]) + static_cast<uint64_t>(index);
    }
    if (place >= *total) fail(ErrorCode::shape, "value {} of a sparse tensor has an index out of range", i);
    result.copy(values, i, place);
  }
  return result.finish();
}

template <typename C>
Tensor scalar_of(DType dtype, const C& value) {
  return make_rounded(dtype, {}, std::vector<C>{value});
}

template <typename C>
Tensor list_of(DType dtype, std::vector<C> values) {
  const auto count = static_cast<int64_t>(values.size());
  return make_rounded(dtype, {count}, std::move(values));
}

Tensor constant_value(const Node& node) {
  if (const Tensor* value = node.find_tensor("value")) return *value;
  if (const ir::SparseTensor* sparse = node.find_sparse_tensor("sparse_value")) return densify(*sparse);
  if (node.has_attribute("value_int")) return scalar_of(DType::int64, node.integer("value_int"));
  if (node.has_attribute("value_float")) return scalar_of(DType::float32, node.floating("value_float"));
  if (node.has_attribute("value_string")) return scalar_of(DType::string, std::string(node.string("value_string")));
  if (node.has_attribute("value_ints")) return list_of(DType::int64, node.integers("value_ints"));
  if (node.has_attribute("value_floats")) return list_of(DType::float32, node.floats("value_floats"));
  if (node.has_attribute("value_strings")) {
    const std::vector<std::string_view> texts = node.strings("value_strings");
    return list_of(DType::string, std::vector<std::string>(texts.begin(), texts.end()));
  }
  fail(ErrorCode::shape, "none of the attributes `value`, `sparse_value` and `value_*` is there");
}

void infer_constant(Infer& node) {
  const Tensor value = constant_value(node);
  node.set_dtype(0, value.dtype());
  node.set_dims(0, dims_of(value.shape()));
}

void eval_constant(Eval& node) {
  const Tensor value = constant_value(node);
  node.set(0, node.is_wide() ? widen(value) : Datum(value));
}

DType fill_type(const Node& node) {
  const Tensor* value = node.find_tensor("value");
  if (value && value->count() != 1) {
    fail(ErrorCode::shape, "attribute `value` must have one element, it has {}", value->count());
  }
  return value ? value->dtype() : DType::float32;
}

void infer_constant_of_shape(Infer& node) {
  node.set_dtype(0, fill_type(node));
  node.require_rank(0, 1);
  const std::optional<Elements> dims = node.elements(0);
  if (!dims) return;
  node.set_dims(0, dims->items);
  const Tensor* value = node.find_tensor("value");
  const bool holds_integer = !value || !tensor::is_integer(value->dtype());
  const std::optional<std::vector<int64_t>> shape = numbers(dims->items);
  const std::optional<uint64_t> count = shape ? tensor::element_count(*shape) : std::nullopt;
  if (holds_integer || !count || *count > 64) return;
  node.set_elements(0, {*shape, Dims(*count, load_elements<int64_t>(*value).front())});
}

// One element, repeated without taking memory for it.
void eval_constant_of_shape(Eval& node) {
  const Tensor* value = node.find_tensor("value");
  const Shape shape = node.out_shape(0);
  if (value && value->dtype() == DType::string) {
    const std::vector<std::string> texts(node.out_count(0), value->strings().front());
    return node.store(0, texts);
  }
  const DType stored = node.stored(node.out_dtype(0));
  const Datum given = value ? Datum(*value) : Datum(make_rounded(DType::float32, {}, std::vector<double>{0}));
  const Tensor one = node.is_wide() ? widen(given).tensor() : given.tensor();
  if (tensor::bit_width(stored) % 8 != 0) {
    const MoveFrom element(one);
    MoveTo result(stored, shape);
    result.fill(element, 0, 0, node.out_count(0));
    return node.set_tensor(0, result.finish());
  }
  const tensor::Bytes pattern = one.bytes().first(tensor::bit_width(stored) / 8);
  node.set_tensor(0, Tensor(stored, shape, tensor::make_fill({pattern.begin(), pattern.end()}, node.out_count(0))));
}

void infer_identity(Infer& node) {
  if (!node.has(0)) return;
  node.set_type(0, node.type(0));
  if (const std::optional<Elements> elements = node.elements(0)) node.set_elements(0, *elements);
}

void eval_identity(Eval& node) { node.set(0, node.datum(0)); }

}  // namespace

OperatorRows operator_constant_constant() {
  static constexpr Operator kRows[] = {
      {.name = "Constant", .traits = {Nature::generator}, .infer = infer_constant, .eval = eval_constant},
      {.name = "ConstantOfShape",
       .since = 9,
       .traits = {Nature::generator, {.sizes = {0}, .typed_by = "value"}},
       .infer = infer_constant_of_shape,
       .eval = eval_constant_of_shape},
      {.name = "Identity",
       .traits = {Nature::movement, {.moves = Moves::in_order, .is_identity = true}},
       .infer = infer_identity,
       .eval = eval_identity},
  };
  return kRows;
}

}  // namespace assay::ops
