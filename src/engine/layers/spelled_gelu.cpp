#include "engine/layers/spelled_gelu.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tensor/elements.h"

namespace assay::engine {
namespace {

constexpr size_t kMostNodes = 8;
constexpr double kCubic = 0.044715;

class GeluMatcher {
 public:
  GeluMatcher(const Layer& layer, ir::ValueId given) : layer_(layer), x_(given), inner_(given), outer_(given) {}

  SpelledGelu match(size_t next) {
    const size_t end = std::min(layer_.nodes.size(), next + kMostNodes);
    for (size_t i = next; i < end; ++i) {
      if (!take(layer_.nodes[i])) return {};
      if (!is_halved_ || !is_multiplied_) continue;
      const std::span<const ir::NodeId> nodes = std::span(layer_.nodes).subspan(next, i + 1 - next);
      return is_closed(nodes) ? SpelledGelu{nodes.size(), is_by_tanh_} : SpelledGelu();
    }
    return {};
  }

 private:
  // One number, within a roundoff.
  bool is_number(ir::ValueId value, double expected) const {
    const tensor::Tensor* const constant = layer_.constant(value);
    if (constant == nullptr || constant->count() != 1 || !tensor::is_floating(constant->dtype())) return false;
    const double tolerance = constant->dtype() == tensor::DType::float32 ? 1e-6 : 4e-3;
    return std::abs(tensor::load_elements<double>(*constant)[0] / expected - 1) < tolerance;
  }

  // The other operand of a node; invalid: the value is none of its operands.
  ir::ValueId partner(ir::NodeId node, ir::ValueId value) const {
    if (layer_.operand(node, 0) == value) return layer_.operand(node, 1);
    return layer_.operand(node, 1) == value ? layer_.operand(node, 0) : ir::ValueId{};
  }

  bool take(ir::NodeId node) {
    const ir::ValueId result = layer_.result(node, 0);
    if (is_next_inside(node)) {
      inner_ = result;
      ++stage_;
      return true;
    }
    if (layer_.op(node) != "Mul") return false;
    if (!is_halved_ && !is_multiplied_ && stage_ == last_stage() && is_number(partner(node, inner_), 0.5)) {
      inner_ = result;
      return is_halved_ = true;
    }
    const bool halves = !is_halved_ && is_number(partner(node, outer_), 0.5);
    const bool multiplies = !is_multiplied_ && stage_ == last_stage() && partner(node, outer_) == inner_;
    is_halved_ = is_halved_ || halves;
    is_multiplied_ = is_multiplied_ || multiplies;
    outer_ = result;
    return halves || multiplies;
  }

  // True if a node is the next one of 1 + erf(x / sqrt(2)), or of that with tanh.
  bool is_next_inside(ir::NodeId node) {
    const std::string_view op = layer_.op(node);
    if (stage_ == 0) {
      is_by_tanh_ = op == "Pow" && layer_.operand(node, 0) == x_ && is_number(layer_.operand(node, 1), 3);
      return is_by_tanh_ || is_scaled(node);
    }
    if (stage_ + 1 == last_stage()) return op == "Add" && is_number(partner(node, inner_), 1);
    if (stage_ + 2 == last_stage()) return op == (is_by_tanh_ ? "Tanh" : "Erf") && layer_.operand(node, 0) == inner_;
    if (!is_by_tanh_) return false;
    if (stage_ == 1) return op == "Mul" && is_number(partner(node, inner_), kCubic);
    if (stage_ == 2) return op == "Add" && partner(node, inner_) == x_;
    return stage_ == 3 && op == "Mul" && is_number(partner(node, inner_), std::sqrt(2 * std::numbers::inv_pi));
  }

  bool is_scaled(ir::NodeId node) const {
    if (layer_.op(node) == "Div")
      return layer_.operand(node, 0) == x_ && is_number(layer_.operand(node, 1), std::numbers::sqrt2);
    return layer_.op(node) == "Mul" && is_number(partner(node, x_), std::numbers::sqrt2 / 2);
  }

  int last_stage() const { return is_by_tanh_ ? 6 : 3; }

  // True if only these nodes use the results of all but the last.
  bool is_closed(std::span<const ir::NodeId> nodes) const {
    for (const ir::NodeId node : nodes.first(nodes.size() - 1)) {
      for (const ir::Use& use : ir::uses(*layer_.model, layer_.result(node, 0))) {
        if (std::ranges::find(nodes, use.user) == nodes.end()) return false;
      }
    }
    return true;
  }

  const Layer& layer_;
  ir::ValueId x_;
  ir::ValueId inner_;  // the operand of erf or tanh, then its result, then 1 more, perhaps half of that
  ir::ValueId outer_;  // then x / 2, or x times the inner one, or both
  int stage_ = 0;      // of the inner one
  bool is_by_tanh_ = false;
  bool is_halved_ = false;
  bool is_multiplied_ = false;
};

}  // namespace

SpelledGelu match_gelu(const Layer& layer, size_t next, ir::ValueId given) {
  return given.valid() ? GeluMatcher(layer, given).match(next) : SpelledGelu();
}

}  // namespace assay::engine
