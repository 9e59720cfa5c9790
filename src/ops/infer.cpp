#include "ops/infer.h"

#include <algorithm>

#include "base/check.h"
#include "ops/eval.h"
#include "ops/kernels/elements/known_elements.h"

namespace assay::ops {
namespace {

bool holds_sizes(tensor::DType dtype) { return tensor::is_integer(dtype) || dtype == tensor::DType::boolean; }

}  // namespace

bool Infer::has(uint32_t input) const { return input < inputs_.size() && ir_node().operands[input].value.valid(); }

tensor::DType Infer::dtype(uint32_t input) const {
  return has(input) && type(input).is_tensor() ? type(input).dtype : tensor::DType::undefined;
}

bool Infer::is_ranked(uint32_t input) const {
  return has(input) && type(input).is_tensor() && type(input).dims.has_value();
}

bool Infer::all_ranked() const {
  for (uint32_t i = 0; i < input_count(); ++i) {
    if (has(i) && !is_ranked(i)) return false;
  }
  return true;
}

void Infer::require_rank(uint32_t input, int64_t rank) const {
  if (!is_ranked(input) || this->rank(input) == rank) return;
  const schema::ArgumentSchema* argument = schema() ? schema()->input(input) : nullptr;
  fail(ErrorCode::shape, "input {} (`{}`) must have rank {}, its shape is {}", input, argument ? argument->name : "",
       rank, text(dims(input)));
}

void Infer::require_broadcasts_to(uint32_t input, std::span<const Dim> to) const {
  if (!is_ranked(input)) return;
  const Dims& own = dims(input);
  bool fits = own.size() <= to.size();
  for (size_t i = 0; fits && i < own.size(); ++i) {
    const Dim& dim = own[own.size() - 1 - i];
    const Dim& other = to[to.size() - 1 - i];
    fits = dim.is(1) || !dim.is_number() || !other.is_number() || dim.equals(other);
  }
  if (!fits) fail(ErrorCode::shape, "shape {} of input {} does not broadcast to {}", text(own), input, text(to));
}

const tensor::Tensor* Infer::constant(uint32_t input) const {
  const tensor::Tensor* const known = has(input) ? inputs_[input].constant : nullptr;
  looked_at_types_alone_ = looked_at_types_alone_ && known == nullptr;
  return known;
}

std::optional<Elements> Infer::elements(uint32_t input) const {
  if (!has(input)) return std::nullopt;
  const Knowledge& known = inputs_[input];
  if (known.elements) {
    looked_at_types_alone_ = false;
    return known.elements;
  }
  if (known.constant && holds_sizes(known.constant->dtype()) && known.constant->count() <= kMaxKnownElements) {
    looked_at_types_alone_ = false;
    const std::vector<int64_t> values = load_elements<int64_t>(*known.constant);
    return Elements{known.constant->shape(), dims_of(values)};
  }
  if (!is_ranked(input) || !holds_sizes(dtype(input))) return std::nullopt;
  const std::optional<std::vector<int64_t>> shape = numbers(dims(input));
  const std::optional<uint64_t> count = shape ? knowable_count(*shape) : std::nullopt;
  if (!count) return std::nullopt;
  return Elements{*shape, std::vector<Dim>(*count)};
}

std::optional<std::vector<int64_t>> Infer::integers_of(uint32_t input) const {
  const std::optional<Elements> known = elements(input);
  return known ? numbers(known->items) : std::nullopt;
}

std::optional<int64_t> Infer::integer_of(uint32_t input) const {
  const std::optional<std::vector<int64_t>> known = integers_of(input);
  if (!known) return std::nullopt;
  if (known->size() != 1)
    fail(ErrorCode::shape, "input {} must be one number, it has {} elements", input, known->size());
  return known->front();
}

std::optional<double> Infer::number_of(uint32_t input) const {
  const tensor::Tensor* value = constant(input);
  const bool is_number = value && (tensor::is_floating(value->dtype()) || holds_sizes(value->dtype()));
  if (!is_number) return std::nullopt;
  if (value->count() != 1)
    fail(ErrorCode::shape, "input {} must be one number, it has {} elements", input, value->count());
  return load_elements<double>(*value).front();
}

bool Infer::wants(uint32_t output) const { return output < outputs_.size() && ir_node().results[output].valid(); }

void Infer::set_dims(uint32_t output, Dims dims) {
  if (output >= outputs_.size()) return;
  for (const Dim& dim : dims) {
    if (dim.is_number() && *dim.number() < 0) {
      fail(ErrorCode::shape, "the result would have a negative dim: {}", text(dims));
    }
  }
  Type& type = outputs_[output].type;
  type.known = true;
  type.kind = ir::TypeKind::tensor;
  type.dims = std::move(dims);
}

void Infer::set_dtype(uint32_t output, tensor::DType dtype) {
  if (output >= outputs_.size()) return;
  Type& type = outputs_[output].type;
  type.known = true;
  type.kind = ir::TypeKind::tensor;
  type.dtype = dtype;
}

void Infer::set_type(uint32_t output, Type type) {
  if (output < outputs_.size()) outputs_[output].type = std::move(type);
}

void Infer::set_elements(uint32_t output, Elements elements) {
  if (output < outputs_.size() && elements.items.size() <= kMaxKnownElements)
    outputs_[output].elements = std::move(elements);
}

std::vector<Type> Infer::infer_body(ir::GraphId body, std::span<const Type> inputs) const {
  looked_at_types_alone_ = false;
  if (bodies_) return bodies_->infer(body, inputs);
  return std::vector<Type>(model().outputs(body).size());
}

Dims broadcast(std::span<const Dim> a, std::span<const Dim> b) {
  if (a.size() < b.size()) std::swap(a, b);
  Dims result(a.begin(), a.end());
  for (size_t i = 0; i < b.size(); ++i) {
    Dim& left = result[a.size() - b.size() + i];
    const Dim& right = b[i];
    if (left.equals(right) || right.is(1)) continue;
    if (left.is_number() && !left.is(1) && right.is_number()) {
      fail(ErrorCode::shape, "shapes {} and {} do not broadcast", text(a), text(b));
    } else if (left.is(1) || right.is_number()) {
      left = right;  // a number is more than 1 or 0: the other must be the same or 1
    } else if (!left.is_number()) {
      left = Dim();
    }
  }
  return result;
}

Dim unify(const Dim& a, const Dim& b, std::string_view what) {
  if (a.is_number() && b.is_number() && !a.equals(b)) {
    fail(ErrorCode::shape, "{} must be the same, seen {} and {}", what, a.text(), b.text());
  }
  if (b.is_number() || a.is_unknown()) return b;
  return a;
}

void infer_same_as_first(Infer& node) {
  if (!node.is_ranked(0)) return;
  for (uint32_t i = 0; i < node.output_count(); ++i) node.set_dims(i, node.dims(0));
}

void infer_broadcast(Infer& node) {
  if (!node.all_ranked()) return;
  Dims result;
  for (uint32_t i = 0; i < node.input_count(); ++i) {
    if (node.has(i)) result = broadcast(result, node.dims(i));
  }
  node.set_dims(0, result);
}

}  // namespace assay::ops
