#include "engine/layers/spelled_hard_swish.h"

#include <array>
#include <cmath>
#include <optional>

#include "tensor/elements.h"

namespace assay::engine {
namespace {

constexpr size_t kNodes = 4;

class HardSwishMatcher {
 public:
  HardSwishMatcher(const Layer& layer, size_t next) : layer_(layer), next_(next) {}

  SpelledHardSwish match() const {
    if (layer_.nodes.size() < next_ + kNodes) return {};
    for (size_t i = 0; i + 1 < kNodes; ++i) {
      if (!is_handed_on(i)) return {};
    }
    const std::optional<Term> sum = term_of(0, "Add");
    if (!sum || !is_clipped_from_zero()) return {};
    const std::optional<float> most = number(layer_.operand(node(1), 2));
    const bool is_last = is_product(2, sum->given) && is_divided(3, *most);
    const bool is_before = is_divided(2, *most) && is_product(3, sum->given);
    return is_last || is_before ? SpelledHardSwish{kNodes, sum->number, *most} : SpelledHardSwish();
  }

 private:
  struct Term {
    ir::ValueId given;
    float number;
  };

  ir::NodeId node(size_t index) const { return layer_.nodes[next_ + index]; }
  ir::ValueId result(size_t index) const { return layer_.result(node(index), 0); }

  // True if the next node is the only one that uses a result, and uses it once.
  bool is_handed_on(size_t index) const {
    const ir::Use* const use = result(index).valid() ? (*layer_.model)[result(index)].first_use : nullptr;
    return use != nullptr && use->next == nullptr && use->user == node(index + 1);
  }

  std::optional<float> number(ir::ValueId value) const {
    const tensor::Tensor* const constant = value.valid() ? layer_.constant(value) : nullptr;
    if (constant == nullptr || constant->count() != 1 || !tensor::is_floating(constant->dtype())) return std::nullopt;
    return static_cast<float>(tensor::load_elements<double>(*constant)[0]);
  }

  // The two operands of a node, one of which is a number.
  std::optional<Term> term_of(size_t index, std::string_view op) const {
    if (layer_.op(node(index)) != op) return std::nullopt;
    const std::array operands = {layer_.operand(node(index), 0), layer_.operand(node(index), 1)};
    if (const std::optional<float> right = number(operands[1])) return Term{operands[0], *right};
    const std::optional<float> left = number(operands[0]);
    return left ? std::optional(Term{operands[1], *left}) : std::nullopt;
  }

  bool is_clipped_from_zero() const {
    constexpr int64_t kFirstWithInputs = 11;
    if (layer_.op(node(1)) != "Clip" || layer_.facts(node(1)).version() < kFirstWithInputs) return false;
    const std::optional<float> most = number(layer_.operand(node(1), 2));
    return layer_.operand(node(1), 0) == result(0) && number(layer_.operand(node(1), 1)) == 0.0F && most && *most > 0;
  }

  bool is_product(size_t index, ir::ValueId given) const {
    const std::array operands = {layer_.operand(node(index), 0), layer_.operand(node(index), 1)};
    const ir::ValueId before = result(index - 1);
    return layer_.op(node(index)) == "Mul" &&
           (operands == std::array{given, before} || operands == std::array{before, given});
  }

  bool is_divided(size_t index, float most) const {
    constexpr float kRoundoff = 1e-6F;
    if (layer_.op(node(index)) == "Div")
      return layer_.operand(node(index), 0) == result(index - 1) && number(layer_.operand(node(index), 1)) == most;
    const std::optional<Term> scaled = term_of(index, "Mul");
    return scaled && scaled->given == result(index - 1) && std::fabs(scaled->number * most - 1) < kRoundoff;
  }

  const Layer& layer_;
  size_t next_;
};

}  // namespace

SpelledHardSwish match_hard_swish(const Layer& layer, size_t next) { return HardSwishMatcher(layer, next).match(); }

}  // namespace assay::engine
