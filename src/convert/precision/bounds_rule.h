#pragma once

#include <optional>
#include <string_view>

#include "convert/precision/value_bounds.h"
#include "ops/traits.h"

namespace assay::convert {

// One node, and what is known of its operands.
class BoundsRule {
 public:
  BoundsRule(const ValueBounds& known, const ir::Node& node) : known_(known), node_(node) {}

  // Bounds of the node's results, by the rule of its operator or of its kind (operator_bounds.cpp).
  Bounds apply(std::string_view op, const ops::Traits& traits) const;

  size_t count() const { return node_.operands.size(); }
  bool has(size_t i) const { return i < count() && node_.operands[i].value; }
  ir::ValueId value(size_t i) const { return node_.operands[i].value; }
  Bounds in(size_t i) const { return has(i) && is_float(i) ? known_[value(i)] : Bounds(); }
  bool is_float(size_t i) const;
  bool is_constant(size_t i) const;
  bool is_same(size_t i, size_t j) const {
    return has(i) && has(j) && known_.uncast(value(i)) == known_.uncast(value(j));
  }
  // The smallest that holds all float operands from number `first` on.
  Bounds hull(size_t first = 0) const;
  std::optional<double> attribute(std::string_view name) const;
  std::optional<double> single(size_t i) const;  // the number that an operand always is
  // The number of elements of the first operand that make one of the result.
  double reduced() const;
  // The operator that makes an operand; empty: none does.
  std::string_view source_op(size_t i) const;
  // True if the first operand of that node is this one's too.
  bool has_source(size_t i, std::string_view op, size_t operand) const;
  // True if the second operand is computed from the first, or from what that is computed from.
  bool is_normalised() const;
  std::optional<Bounds> integers_bounds() const;  // of a Cast from integers
  double weight_gain() const;                     // of a product with a constant weight

 private:
  const ValueBounds& known_;
  const ir::Node& node_;
};

Bounds join(const Bounds& a, const Bounds& b);

}  // namespace assay::convert
