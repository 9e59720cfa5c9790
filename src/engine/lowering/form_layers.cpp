#include "engine/lowering/form_layers.h"

#include <algorithm>
#include <array>
#include <set>

#include "engine/layers/elementwise.h"
#include "engine/layers/indexed_rows.h"
#include "engine/layers/layer.h"
#include "engine/layers/normalization.h"
#include "engine/layers/quantization.h"
#include "engine/layers/selected_product.h"
#include "engine/layers/spelled_norm.h"
#include "engine/layers/spelled_rotary.h"
#include "engine/lowering/append_reductions.h"
#include "engine/lowering/attention_groups.h"
#include "engine/lowering/collectives_of_halves.h"
#include "engine/lowering/compressed_groups.h"
#include "engine/lowering/join_chains.h"
#include "engine/lowering/join_depthwise.h"
#include "engine/lowering/join_norms.h"
#include "engine/lowering/layer_maker.h"
#include "engine/lowering/lower.h"
#include "engine/lowering/quantized_groups.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::ValueId;

constexpr std::array<std::string_view, 4> kProducts = {"Conv", "ConvTranspose", "MatMul", "Gemm"};

class LayerFormer {
 public:
  LayerFormer(ir::Model& model, ir::Rewriter& rewriter, const LoweringRules& rules)
      : model_(model), rewriter_(rewriter), rules_(rules), inference_(model), maker_(model, rewriter) {
    inference_.run();
  }

  void run() {
    std::vector<NodeId> nodes;
    for (const NodeId node : ir::nodes(model_, model_.main_graph())) nodes.push_back(node);
    for (const NodeId node : nodes) form_quantized_attention(node);
    form_quantized(nodes);
    for (const NodeId node : nodes) form_selected(node);
    for (const NodeId node : nodes) form_attention(node);  // also of nodes before it
    for (const NodeId node : nodes) form_group_norm(node);
    for (const std::string_view last : {"Mul", "Concat", "Add"}) form_rotary(nodes, last);
    for (const NodeId node : nodes) {
      if (taken_.contains(node) || form_norm(node)) continue;
      std::vector<NodeId> seed = compressed_group(model_, inference_, node, [this](ValueId v) { return constant(v); });
      if (seed.empty() && is_seed(node)) seed = {node};
      if (seed.empty()) continue;
      form_product(std::move(seed));
    }
    join_chains(model_, inference_, rules_.most_chain_values, groups_);
    join_depthwise(model_, inference_, rules_, groups_);
    join_norms(
        model_, inference_, rules_, [this](ValueId v) { return constant(v); }, groups_);
    append_reductions(model_, inference_, groups_, rules_, [this](ValueId v) { return constant(v); });
    for (const std::vector<NodeId>& group : groups_) {
      if (group.size() < 2) continue;
      if (!rewriter_.record("operators form a layer", group.front())) return;
      maker_.make(group);
    }
  }

 private:
  const tensor::Tensor* constant(ValueId value) const { return constant_of(model_, inference_, value); }

  // Products of integers, before what they dequantise becomes part of something else.
  void form_quantized(const std::vector<NodeId>& nodes) {
    std::vector<std::vector<NodeId>> seeds;
    for (const NodeId node : nodes) {
      std::vector<NodeId> seed = quantized_group(
          model_, inference_, node, [this](ValueId v) { return constant(v); }, rules_);
      if (seed.empty()) continue;
      taken_.insert(seed.begin(), seed.end());
      seeds.push_back(std::move(seed));
    }
    for (std::vector<NodeId>& seed : seeds) groups_.push_back(grown_from(std::move(seed)));
  }

  // A layer that begins with these nodes, and goes on with both halves of their columns if it can.
  void form_product(std::vector<NodeId> seed) {
    const size_t given = seed.size();
    std::vector<NodeId> halved = with_halves(model_, inference_, rules_, seed);
    if (halved.size() > given) {
      std::vector<NodeId> group = grown_from(std::move(halved));
      if (group.size() > given + 1) {
        groups_.push_back(std::move(group));
        return;
      }
      for (const NodeId node : group) taken_.erase(node);
    }
    groups_.push_back(grown_from(std::move(seed)));
  }

  // The longest normalisation that begins here.
  bool form_norm(NodeId first) {
    const auto is_part = [&](NodeId node) {
      constexpr std::array<std::string_view, 8> kParts = {"ReduceMean", "Sub",  "Pow", "Mul",
                                                          "Add",        "Sqrt", "Div", "Reciprocal"};
      return std::ranges::find(kParts, model_.text(model_[node].op)) != kParts.end() &&
             model_.text(model_[node].domain).empty();
    };
    if (!is_part(first)) return false;
    const ConstantOf constant_of = [this](ValueId value) { return constant(value); };
    std::vector<NodeId> found;
    for (std::vector<NodeId> group = {first}; group.size() < kMostNormNodes && extend(group, is_part) != 0;) {
      const bool is_norm = match_norm(model_, group, constant_of).has_value();
      if (!found.empty() && (!is_norm || !has_rows_of(group.back(), first))) break;
      if (is_norm) found = group;
    }
    if (found.empty()) return false;
    taken_.insert(found.begin(), found.end());
    groups_.push_back(std::move(found));
    return true;
  }

  // The product of what a node gathers.
  void form_selected(NodeId node) {
    if (!rules_.selects_matrices || !find_slab_places(model_, inference_, node).valid()) return;
    const NodeId product = only_user(model_, model_[node].results[0]);
    if (!product.valid() || taken_.contains(product)) return;
    const ConstantOf constant_of = [this](ValueId value) { return constant(value); };
    if (!match_selected(model_, inference_, node, product, constant_of)) return;
    taken_.insert({node, product});
    groups_.push_back({node, product});
  }

  void form_group_norm(NodeId node) {
    std::vector<NodeId> found = group_norm_nodes(model_, inference_, node, [this](ValueId v) { return constant(v); });
    const bool is_taken = std::ranges::any_of(found, [this](NodeId part) { return taken_.contains(part); });
    if (found.empty() || is_taken) return;
    taken_.insert(found.begin(), found.end());
    groups_.push_back(std::move(found));
  }

  // Rotary positions that end with this operator.
  void form_rotary(const std::vector<NodeId>& nodes, std::string_view last) {
    const ConstantOf constant_of = [this](ValueId value) { return constant(value); };
    for (const NodeId node : nodes) {
      if (model_.text(model_[node].op) != last) continue;
      std::optional<SpelledRotary> found = match_rotary(model_, inference_, node, constant_of);
      if (!found || !is_joined(inference_.type(model_[node].results.front()).dtype)) continue;
      const bool has_neighbours =
          std::ranges::find(found->pieces, Turn::neighbours, &SpelledRotary::Piece::turn) != found->pieces.end();
      if (has_neighbours && !rules_.turns_neighbours) continue;
      if (std::ranges::any_of(found->nodes, [this](NodeId part) { return taken_.contains(part); })) continue;
      taken_.insert(found->nodes.begin(), found->nodes.end());
      groups_.push_back(std::move(found->nodes));
    }
  }

  // An attention of codes whose first product is here, before layers grow into what it dequantises.
  void form_quantized_attention(NodeId first) {
    std::vector<NodeId> group =
        quantized_attention_group(model_, inference_, first, [this](ValueId v) { return constant(v); });
    const bool is_taken = std::ranges::any_of(group, [this](NodeId node) { return taken_.contains(node); });
    if (group.empty() || is_taken) return;
    taken_.insert(group.begin(), group.end());
    groups_.push_back(std::move(group));
  }

  // An attention whose first product is here.
  void form_attention(NodeId first) {
    if (taken_.contains(first)) return;
    std::vector<NodeId> group = attention_group(model_, inference_, first, [this](ValueId v) { return constant(v); });
    const auto is_taken = [this](const std::vector<NodeId>& nodes) {
      return std::ranges::any_of(nodes, [this](NodeId node) { return taken_.contains(node); });
    };
    if (group.empty() || is_taken(group)) return;
    if (!is_joined(inference_.type(model_[group.back()].results.front()).dtype)) return;
    for (const std::vector<NodeId>& cache :
         cache_groups(model_, inference_, group, [this](ValueId v) { return constant(v); })) {
      if (!is_taken(cache)) group.insert(group.begin(), cache.begin(), cache.end());
    }
    taken_.insert(group.begin(), group.end());
    groups_.push_back(std::move(group));
  }

  // True if a node takes, besides the result of a normalisation, one number for each element of its rows.
  bool has_rows_of(NodeId node, NodeId first) const {
    const std::optional<TensorDesc> data = find_desc(model_, inference_, model_[first].operands[0].value);
    return data && std::ranges::any_of(model_[node].operands, [&](const ir::Use& use) {
             const std::optional<TensorDesc> desc =
                 use.value.valid() ? find_desc(model_, inference_, use.value) : std::nullopt;
             return desc && desc->dims == tensor::Shape{data->dims.back()};
           });
  }

  // True for floats in which products and attention are joined with others: float16 where a device multiplies it.
  bool is_joined(tensor::DType dtype) const {
    return is_short_float(dtype) && (dtype != tensor::DType::float16 || rules_.has(dtype));
  }

  bool is_seed(NodeId id) const {
    const ir::Node& node = model_[id];
    if (is_elementwise(inference_, model_, id) || is_short_sum(model_, inference_, id, rules_.most_sum_bytes))
      return true;
    const bool is_product = std::ranges::find(kProducts, model_.text(node.op)) != kProducts.end();
    if (!is_product || !model_.text(node.domain).empty() || inference_.callees()[id].op == nullptr) return false;
    const ops::Type& type = inference_.type(node.results.front());
    return type.is_tensor() && is_joined(type.dtype) && type.dims &&
           std::ranges::all_of(*type.dims, [](const ops::Dim& dim) { return dim.is_number(); });
  }

  bool has_same_dims(ValueId a, ValueId b) const {
    const ops::Dims& left = *inference_.type(a).dims;
    const ops::Dims& right = *inference_.type(b).dims;
    return std::ranges::equal(left, right, {}, &ops::Dim::number, &ops::Dim::number);
  }

  // The users of a value, each once; false: it is an output, or a body uses it.
  bool find_users(ValueId value, std::set<std::pair<uint64_t, NodeId>>& users) const {
    for (const ir::Use& use : ir::uses(model_, value)) {
      if (model_[use.user].is_outputs || model_[use.user].graph != model_.main_graph()) return false;
      users.emplace(model_[use.user].order, use.user);
    }
    return true;
  }

  // The longest group that begins with these and of which one value is used outside.
  std::vector<NodeId> grown_from(std::vector<NodeId> group) {
    const size_t given = group.size();
    const ValueId shape = model_[group.back()].results.front();
    const bool is_product = !is_elementwise(inference_, model_, group.back());
    const auto reads_codes = [&](NodeId node) {
      const bool is_of_float8 = inference_.type(model_[node].operands[0].value).dtype == tensor::DType::float8e4m3fn;
      return is_of_float8 || is_quantizer(model_, inference_, node);
    };
    const bool is_quantized = is_product && std::ranges::any_of(group, reads_codes);
    const bool is_sum = is_short_sum(model_, inference_, group.front(), rules_.most_sum_bytes);
    const auto fits = [&](NodeId node) {
      const std::string_view op = model_.text(model_[node].op);
      const tensor::DType made = inference_.type(model_[node].results.front()).dtype;
      if (is_product && (is_sum ? !is_short_float(made) : made == tensor::DType::boolean)) return false;
      const bool is_permitted = is_sum && op == "Cast" && model_.origins().of(node).empty();  // no node of the model
      if (is_product && !is_quantized && !is_permitted && (op == "Cast" || op == "QuantizeLinear")) return false;
      return is_elementwise(inference_, model_, node) && has_same_dims(model_[node].results.front(), shape);
    };
    grow(group, is_product ? given : 0, fits);
    // Codes are passed on as such to layers that read them.
    while (group.size() > given && model_.text(model_[group.back()].op) == "DequantizeLinear" &&
           !needs_floats(group.back())) {
      group.pop_back();
    }
    taken_.insert(group.begin(), group.end());
    take_dequantizers(group, given);
    return group;
  }

  // Grows a group as far as the nodes from `first` on can be computed together.
  template <typename Fits>
  void grow(std::vector<NodeId>& group, size_t first, Fits&& fits) const {
    while (group.size() < rules_.most_nodes) {
      const size_t before = group.size();
      if (extend(group, fits) == 0) return;
      if (count_chain_values(model_, inference_, std::span(group).subspan(first)) <= rules_.most_chain_values) continue;
      group.resize(before);
      return;
    }
  }

  // True if a dequantised value goes to a node that does not compute element by element.
  bool needs_floats(NodeId dequantizer) const {
    const NodeId user = only_user(model_, model_[dequantizer].results.front());
    return user.valid() && !is_elementwise(inference_, model_, user);
  }

  // Takes into the group the dequantizers whose results only the nodes after the first `given` use.
  void take_dequantizers(std::vector<NodeId>& group, size_t given) {
    const std::vector<NodeId> grown(group.begin() + static_cast<ptrdiff_t>(given), group.end());
    for (const NodeId node : dequantizers_of(model_, inference_, grown)) {
      if (taken_.insert(node).second) group.insert(group.begin() + static_cast<ptrdiff_t>(given), node);
    }
  }

  // Adds users of the last value until again only one value is used outside; returns how many, 0: it cannot be done.
  template <typename Fits>
  size_t extend(std::vector<NodeId>& group, Fits&& fits) const {
    std::set<std::pair<uint64_t, NodeId>> open;  // in the order of the graph
    std::vector<NodeId> added;
    for (const ValueId result : model_[group.back()].results) {
      if (result.valid() && !find_users(result, open)) return 0;
    }
    if (open.empty()) return 0;
    while (!open.empty() && group.size() + added.size() < rules_.most_nodes) {
      const NodeId next = open.begin()->second;
      const bool is_last = open.size() == 1;
      open.erase(open.begin());
      if (taken_.contains(next) || !fits(next)) return 0;
      added.push_back(next);
      if (is_last) {  // all that was open goes through this node
        group.insert(group.end(), added.begin(), added.end());
        return added.size();
      }
      if (!find_users(model_[next].results.front(), open)) return 0;
    }
    return 0;
  }

  ir::Model& model_;
  ir::Rewriter& rewriter_;
  const LoweringRules& rules_;
  ops::Inference inference_;
  std::set<NodeId> taken_;
  std::vector<std::vector<NodeId>> groups_;
  LayerMaker maker_;
};

}  // namespace

void form_layers(ir::Model& model, ir::Rewriter& rewriter, const LoweringRules& rules) {
  LayerFormer(model, rewriter, rules).run();
}

}  // namespace assay::engine
