#include "convert/precision/bounds_rule.h"

#include <array>
#include <span>

#include "tensor/casts.h"

namespace assay::convert {
namespace {

constexpr double kUnknownCount = 1024;  // elements of an axis of unknown length

}  // namespace

Bounds join(const Bounds& a, const Bounds& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.is_assumed || b.is_assumed,
          a.is_positive && b.is_positive};
}

bool BoundsRule::is_float(size_t i) const { return known_.is_float(value(i)); }

bool BoundsRule::is_constant(size_t i) const { return has(i) && known_.constant(value(i)).has_value(); }

Bounds BoundsRule::hull(size_t first) const {
  std::optional<Bounds> all;
  for (size_t i = first; i < count(); ++i) {
    if (has(i) && is_float(i)) all = all ? join(*all, in(i)) : in(i);
  }
  return all.value_or(Bounds());
}

std::optional<double> BoundsRule::attribute(std::string_view name) const {
  const ir::Attribute* attribute = known_.model_.find_attribute(node_, name);
  if (!attribute || attribute->is_reference()) return std::nullopt;
  if (attribute->type() == ir::AttributeType::floating) return attribute->floating();
  if (attribute->type() != ir::AttributeType::tensor) return std::nullopt;
  const ir::TensorEntry& entry = known_.model_[attribute->tensors()[0]];
  const bool is_number = !entry.sparse && tensor::is_floating(entry.tensor.dtype()) && entry.tensor.count() == 1;
  if (!is_number) return std::nullopt;
  double number = 0;
  tensor::load(entry.tensor.dtype(), entry.tensor.bytes(), 0, {&number, 1});
  return number;
}

std::optional<double> BoundsRule::single(size_t i) const {
  const Bounds bounds = in(i);
  const bool is_single = has(i) && is_float(i) && !bounds.is_assumed && bounds.low == bounds.high;
  return is_single ? std::optional<double>(bounds.low) : std::nullopt;
}

double BoundsRule::reduced() const {
  const uint64_t from = known_.floats_.counts[value(0).index];
  const uint64_t to = node_.results[0] ? known_.floats_.counts[node_.results[0].index] : 0;
  return from > 0 && to > 0 ? static_cast<double>(from) / static_cast<double>(to) : kUnknownCount;
}

std::string_view BoundsRule::source_op(size_t i) const {
  const ir::ValueId value = has(i) ? known_.uncast(this->value(i)) : ir::ValueId{};
  if (!value || known_.model_[value].kind != ir::ValueKind::result) return {};
  return known_.model_.text(known_.model_[known_.model_[value].producer].op);
}

bool BoundsRule::has_source(size_t i, std::string_view op, size_t operand) const {
  if (source_op(i) != op || !has(operand)) return false;
  const ir::Node& source = known_.model_[known_.model_[known_.uncast(value(i))].producer];
  const ir::ValueId from = source.operands.empty() ? ir::ValueId{} : source.operands[0].value;
  return from && known_.uncast(from) == known_.uncast(value(operand));
}

bool BoundsRule::is_normalised() const {
  const auto is_from = [this](ir::ValueId a, ir::ValueId b) {
    if (known_.depends(b, a)) return true;
    a = known_.uncast(a);
    if (known_.model_[a].kind != ir::ValueKind::result) return false;
    const auto is_shared = [&](const ir::Use& use) {
      return use.value && !known_.constant(use.value) && known_.depends(b, use.value);
    };
    return std::ranges::any_of(known_.model_[known_.model_[a].producer].operands, is_shared);
  };
  return is_from(value(0), value(1)) || is_from(value(1), value(0));
}

std::optional<Bounds> BoundsRule::integers_bounds() const {
  if (!has(0)) return std::nullopt;
  switch (known_.floats_.dtypes[value(0).index]) {
    case tensor::DType::boolean:
      return Bounds::known(0, 1);
    case tensor::DType::uint8:
      return Bounds::known(0, UINT8_MAX);
    case tensor::DType::int8:
      return Bounds::known(INT8_MIN, INT8_MAX);
    case tensor::DType::uint16:
      return Bounds::known(0, UINT16_MAX);
    case tensor::DType::int16:
      return Bounds::known(INT16_MIN, INT16_MAX);
    default:
      return std::nullopt;
  }
}

// The length of a column of the weight, from pieces of it.
double BoundsRule::weight_gain() const {
  constexpr uint64_t kPiece = 256;
  constexpr uint64_t kPieces = 16;
  const std::optional<tensor::Tensor> weight = known_.constant(value(is_constant(1) ? 1 : 0));
  const bool has_numbers = weight && weight->count() > 0 && weight->storage();
  if (!has_numbers || !weight->storage()->fill_pattern().empty()) return 1;
  const uint64_t count = weight->count();
  const tensor::Bytes bytes = weight->bytes();
  std::array<double, kPiece> numbers;
  double squares = 0;
  uint64_t seen = 0;
  for (uint64_t begin = 0; begin < count; begin += std::max(kPiece, count / kPieces)) {
    const std::span<double> piece(numbers.data(), std::min(kPiece, count - begin));
    tensor::load(weight->dtype(), bytes, begin, piece);
    for (const double number : piece) squares += number * number;
    seen += piece.size();
  }
  const double columns = static_cast<double>(weight->shape().empty() ? 1 : *std::ranges::max_element(weight->shape()));
  return std::sqrt(squares / static_cast<double>(seen) * static_cast<double>(count) / columns);
}

}  // namespace assay::convert
