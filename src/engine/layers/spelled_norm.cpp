#include "engine/layers/spelled_norm.h"

#include <array>

#include "tensor/elements.h"

namespace assay::engine {
namespace {

class Matcher {
 public:
  Matcher(const ir::Model& model, std::span<const ir::NodeId> nodes, const ConstantOf& constant)
      : model_(model), nodes_(nodes), constant_(constant) {}

  std::optional<SpelledNorm> match() const {
    if (nodes_.size() > kMostNormNodes) return std::nullopt;
    return !nodes_.empty() && op(0) == "ReduceMean" ? match_centered() : match_rms();
  }

 private:
  bool begins_with(std::span<const std::string_view> ops) const {
    if (nodes_.size() < ops.size()) return false;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (!ops[i].empty() && op(i) != ops[i]) return false;
    }
    return true;
  }

  std::optional<SpelledNorm> match_centered() const {
    constexpr std::array<std::string_view, 7> kOps = {"ReduceMean", "Sub", "", "ReduceMean", "Add", "Sqrt", "Div"};
    if (!begins_with(kOps)) return std::nullopt;
    const ir::ValueId data = operand(0, 0);
    const bool are_means = is_mean_of_last(0) && is_mean_of_last(3) && operand(3, 0) == result(2);
    const bool is_centered = operand(1, 0) == data && operand(1, 1) == result(0);
    const bool is_divided = operand(5, 0) == result(4) && operand(6, 0) == result(1) && operand(6, 1) == result(5);
    if (!are_means || !is_centered || !is_square(2, result(1)) || !is_divided) return std::nullopt;
    const std::optional<float> epsilon = number(other(4, result(3)));
    if (!epsilon) return std::nullopt;
    return with_rows({data, {}, {}, *epsilon}, kOps.size());
  }

  std::optional<SpelledNorm> match_rms() const {
    constexpr std::array<std::string_view, 5> kOps = {"", "ReduceMean", "Add", "Sqrt", ""};
    if (!begins_with(kOps)) return std::nullopt;
    const ir::ValueId data = operand(0, 0);
    const bool is_root =
        is_square(0, data) && is_mean_of_last(1) && operand(1, 0) == result(0) && operand(3, 0) == result(2);
    const std::optional<float> epsilon = number(other(2, result(1)));
    if (!is_root || !epsilon) return std::nullopt;
    const bool is_divided = op(4) == "Div" && operand(4, 0) == data && operand(4, 1) == result(3);
    const bool is_multiplied =
        is_reciprocal(4, result(3)) && nodes_.size() > kOps.size() && op(5) == "Mul" && other(5, result(4)) == data;
    if (!is_divided && !is_multiplied) return std::nullopt;
    return with_rows({data, {}, {}, *epsilon, true}, kOps.size() + (is_divided ? 0 : 1));
  }

  // The Mul and Add that may follow, from a node on.
  std::optional<SpelledNorm> with_rows(SpelledNorm norm, size_t next) const {
    for (const auto& [wanted, value] : {std::pair("Mul", &norm.scale), std::pair("Add", &norm.shift)}) {
      if (next == nodes_.size() || op(next) != wanted) continue;
      *value = other(next, result(next - 1));
      if (!value->valid()) return std::nullopt;
      ++next;
    }
    return next == nodes_.size() ? std::optional(norm) : std::nullopt;
  }

  std::string_view op(size_t i) const { return model_.text(model_[nodes_[i]].op); }
  ir::ValueId operand(size_t i, uint32_t index) const {
    const ir::Node& node = model_[nodes_[i]];
    return index < node.operands.size() ? node.operands[index].value : ir::ValueId{};
  }
  ir::ValueId result(size_t i) const { return model_[nodes_[i]].results.front(); }
  // The operand beside that one; invalid: it is not an operand.
  ir::ValueId other(size_t i, ir::ValueId value) const {
    if (operand(i, 0) == value) return operand(i, 1);
    return operand(i, 1) == value ? operand(i, 0) : ir::ValueId{};
  }
  std::optional<float> number(ir::ValueId value) const {
    const tensor::Tensor* const constant = value.valid() ? constant_(value) : nullptr;
    if (constant == nullptr || constant->count() != 1) return std::nullopt;
    return static_cast<float>(tensor::load_elements<double>(*constant).front());
  }
  bool is_reciprocal(size_t i, ir::ValueId value) const {
    if (op(i) == "Div") return number(operand(i, 0)) == 1.0F && operand(i, 1) == value;
    return op(i) == "Reciprocal" && operand(i, 0) == value;
  }
  bool is_square(size_t i, ir::ValueId value) const {
    if (op(i) == "Mul") return operand(i, 0) == value && operand(i, 1) == value;
    return op(i) == "Pow" && operand(i, 0) == value && number(operand(i, 1)) == 2.0F;
  }
  bool is_mean_of_last(size_t i) const {
    const ir::Node& node = model_[nodes_[i]];
    const ir::Attribute* const keeps = model_.find_attribute(node, "keepdims");
    if (keeps != nullptr && keeps->integer() == 0) return false;
    if (const ir::Attribute* const axes = model_.find_attribute(node, "axes")) {
      return axes->integers().size() == 1 && axes->integers()[0] == -1;
    }
    return number(operand(i, 1)) == -1.0F;
  }

  const ir::Model& model_;
  std::span<const ir::NodeId> nodes_;
  const ConstantOf& constant_;
};

}  // namespace

std::optional<SpelledNorm> match_norm(const ir::Model& model, std::span<const ir::NodeId> nodes,
                                      const ConstantOf& constant) {
  return Matcher(model, nodes, constant).match();
}

}  // namespace assay::engine
