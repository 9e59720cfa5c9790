#include "engine/layers/attention_operand.h"

#include <algorithm>
#include <cmath>

#include "engine/layers/appended_cache.h"
#include "engine/layers/graph_reader.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

class Finder : GraphReader {
 public:
  Finder(const ir::Model& model, const ops::Inference& inference, const ConstantOf& constant)
      : GraphReader(model, inference, constant) {}

  AttentionOperand find(AttentionOperand given) {
    now_ = std::move(given);
    AttentionOperand found = now_;
    while (take_scale() || take_turn() || take_sharing() || take_dim_of_repeats()) {
      const bool gains = now_.sharing != found.sharing || now_.scale != found.scale;
      if (gains || is_source(now_)) found = now_;
    }
    std::ranges::reverse(found.nodes);
    return found;
  }

  AttentionOperand find_scale(AttentionOperand given) {
    now_ = std::move(given);
    while (take_scale()) continue;
    std::ranges::reverse(now_.nodes);
    return now_;
  }

 private:
  // True if a layer can read the operand as it is: what is appended to a cache, or, also within a layer, what is given.
  bool is_source(const AttentionOperand& operand) const {
    return !model_[operand.value].producer.valid() || is_appended(model_, inference_, operand);
  }
  // The node that makes a value for one use, if it is this operator.
  ir::NodeId maker(ir::ValueId value, std::string_view op) const {
    const ir::NodeId node = sole_maker(value);
    return is(node, op) && operand(node, 0).valid() ? node : ir::NodeId();
  }

  void take(ir::NodeId node, ir::ValueId value) {
    now_.nodes.push_back(node);
    now_.value = value;
  }

  bool take_scale() {
    for (const std::string_view op : {"Mul", "Div"}) {
      const ir::NodeId node = maker(now_.value, op);
      if (!node.valid()) continue;
      for (uint32_t data = 0; data < (op == "Mul" ? 2U : 1U); ++data) {
        const std::optional<double> factor = number(operand(node, 1 - data));
        const ir::ValueId value = operand(node, data);
        if (!factor || dims_of(value) != dims_of(now_.value)) continue;
        if (!std::isnormal(*factor) || std::fabs(std::log2(std::fabs(*factor))) > kMostExponent) return false;
        now_.scale *= op == "Mul" ? *factor : 1 / *factor;
        take(node, value);
        return true;
      }
    }
    return false;
  }

  bool take_turn() {
    const ir::NodeId node = maker(now_.value, "Transpose");
    const auto rank = static_cast<int64_t>(dims_of(now_.value).size());
    if (!node.valid() || rank < 2) return false;
    std::vector<int64_t> order = facts(node).integers("perm");
    if (order.empty() && rank == 2) order = {1, 0};
    if (order.size() != static_cast<size_t>(rank)) return false;
    std::swap(order[order.size() - 2], order[order.size() - 1]);
    for (int64_t i = 0; i < rank; ++i) {
      if (order[static_cast<size_t>(i)] != i) return false;
    }
    now_.is_turned = !now_.is_turned;
    take(node, operand(node, 0));
    return true;
  }

  bool take_sharing() {
    const tensor::Shape heads = dims_of(now_.value);
    return now_.sharing == 1 && heads.size() > 2 && (take_repeats(heads) || take_gathered(heads));
  }

  // [..., groups, 1, rows, columns] is repeated on the dim of 1, and both dims become one.
  bool take_repeats(const tensor::Shape& heads) {
    const ir::NodeId join = maker(now_.value, "Reshape");
    if (!join.valid()) return false;
    const ir::ValueId apart = operand(join, 0);
    tensor::Shape wide = dims_of(apart);
    const size_t at = heads.size() - 2;  // of the repeats in `wide`
    if (wide.size() != heads.size() + 1) return false;
    const int64_t repeats = wide[at];
    tensor::Shape joined = wide;
    joined.erase(joined.begin() + static_cast<ptrdiff_t>(at));
    joined[at - 1] *= repeats;
    const ir::NodeId repeat = joined == heads ? repeater(apart) : ir::NodeId();
    wide[at] = 1;
    if (!repeat.valid() || dims_of(operand(repeat, 0)) != wide) return false;
    now_.nodes.push_back(join);
    take(repeat, operand(repeat, 0));
    now_.sharing = repeats;
    return true;
  }
  // [..., groups, 1, rows, columns] is what is appended, with a dim of 1.
  bool take_dim_of_repeats() {
    tensor::Shape without = dims_of(now_.value);
    if (now_.sharing == 1 || without.size() < 4) return false;
    without.erase(without.end() - 3);
    for (const std::string_view op : {"Unsqueeze", "Reshape"}) {
      const ir::NodeId node = maker(now_.value, op);
      if (!node.valid() || dims_of(operand(node, 0)) != without) continue;
      AttentionOperand next = now_;
      next.value = operand(node, 0);
      if (!is_source(next)) return false;
      take(node, next.value);
      return true;
    }
    return false;
  }
  ir::NodeId repeater(ir::ValueId value) const {
    for (const std::string_view op : {"Expand", "Tile"}) {
      if (const ir::NodeId node = maker(value, op); node.valid()) return node;
    }
    const ir::NodeId node = maker(value, "Concat");
    const bool is_same = node.valid() && std::ranges::all_of(model_[node].operands, [&](const ir::Use& use) {
                           return use.value == operand(node, 0);
                         });
    return is_same ? node : ir::NodeId();
  }

  // Each matrix is chosen several times in a row.
  bool take_gathered(const tensor::Shape& heads) {
    const ir::NodeId node = maker(now_.value, "Gather");
    const tensor::Tensor* const chosen = node.valid() ? constant(operand(node, 1)) : nullptr;
    if (chosen == nullptr || chosen->shape().size() != 1) return false;
    const tensor::Shape given = dims_of(operand(node, 0));
    const size_t at = heads.size() - 3;
    const int64_t axis = facts(node).integer("axis", 0);
    if (given.size() != heads.size() || given[at] < 1 || heads[at] % given[at] != 0) return false;
    if (ops::normalize_axis(axis, static_cast<int64_t>(given.size())) != static_cast<int64_t>(at)) return false;
    const std::vector<int64_t> indices = tensor::load_elements<int64_t>(*chosen);
    const int64_t repeats = heads[at] / given[at];
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] != static_cast<int64_t>(i) / repeats) return false;
    }
    take(node, operand(node, 0));
    now_.sharing = repeats;
    return true;
  }

  static constexpr double kMostExponent = 32;  // of a factor, so that products of several stay normal
  AttentionOperand now_;
};

}  // namespace

AttentionOperand find_attention_operand(const ir::Model& model, const ops::Inference& inference, AttentionOperand given,
                                        const ConstantOf& constant) {
  return Finder(model, inference, constant).find(std::move(given));
}

AttentionOperand find_scaled_queries(const ir::Model& model, const ops::Inference& inference, ir::ValueId queries,
                                     const ConstantOf& constant) {
  return Finder(model, inference, constant).find_scale({.value = queries});
}

}  // namespace assay::engine
