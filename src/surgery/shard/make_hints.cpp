#include <algorithm>
#include <array>

#include "surgery/shard/attention.h"
#include "surgery/shard/shard.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::ValueId;

class HintMaker {
 public:
  HintMaker(const ir::Model& model, const HintOptions& options) : model_(model), options_(options) {}

  formats::ShardHints run() {
    formats::ShardHints hints = options_.base;
    std::vector<NodeId> lasts;
    for (const AttentionLayer& layer : find_attention(model_)) {
      if (options_.is_scaled && !layer.scaled) continue;
      formats::AttentionLayerHint hint = options_.layer;
      hint.q = name_of(options_.is_scaled ? layer.scaled->q : layer.q);
      hints.attention_layers.push_back(std::move(hint));
      lasts.push_back(layer.last);
      for (const ValueId value : {layer.k, layer.v}) {
        if (!hints.kv_rank) hints.kv_rank = rank_of(value);
      }
    }
    if (!options_.suggests_io) return hints;
    hints.inputs = inputs_before(lasts);
    hints.outputs = outputs_behind(lasts);
    return hints;
  }

 private:
  std::string name_of(ValueId value) const { return std::string(model_.text(model_[value].name)); }

  std::optional<int64_t> rank_of(ValueId value) const {
    const ir::TypeId type = model_[value].type;
    if (!type || !model_[type].ranked) return std::nullopt;
    return static_cast<int64_t>(model_[type].dims.size());
  }

  std::vector<formats::ShardTensor> inputs_before(std::vector<NodeId> pending) const {
    std::vector<bool> seen(model_.node_slots());
    std::vector<bool> is_read(model_.value_slots());
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (seen[id.index]) continue;
      seen[id.index] = true;
      for (const ir::Use& use : model_[id].operands) {
        if (!use.value) continue;
        is_read[use.value.index] = true;
        if (model_[use.value].producer) pending.push_back(model_[use.value].producer);
      }
    }
    std::vector<formats::ShardTensor> found;
    for (const ValueId input : model_[model_.main_graph()].inputs) {
      const bool is_data = is_read[input.index] && !model_[input].constant;
      if (is_data) found.push_back(hint_of(input, options_.input_index, options_.input_rank));
    }
    return found;
  }

  std::vector<formats::ShardTensor> outputs_behind(std::vector<NodeId> pending) const {
    std::vector<bool> seen(model_.node_slots());
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (seen[id.index]) continue;
      seen[id.index] = true;
      for (const ValueId result : model_[id].results) {
        if (!result) continue;
        for (const ir::Use& use : ir::uses(model_, result)) {
          const NodeId user = model_.ancestor_in(use.user, model_.main_graph());
          if (user && !model_[user].is_outputs) pending.push_back(user);
        }
      }
    }
    std::vector<formats::ShardTensor> found;
    for (const ir::Use& use : model_.outputs(model_.main_graph())) {
      const NodeId producer = use.value ? model_[use.value].producer : NodeId{};
      if (producer && seen[producer.index]) {
        found.push_back(hint_of(use.value, options_.output_index, options_.output_rank));
      }
    }
    return found;
  }

  formats::ShardTensor hint_of(ValueId value, int64_t index, std::optional<int64_t> rank) const {
    static constexpr std::array<std::string_view, 2> kNames = {"sequence_length", "seq_len"};
    formats::ShardTensor hint{.name = name_of(value), .seq_len_idx = index, .rank = rank};
    if (const std::optional<int64_t> known = rank_of(value)) hint.rank = known;
    const ir::TypeId type = model_[value].type;
    if (!type || !model_[type].ranked) return hint;
    const std::vector<ir::DimId>& dims = model_[type].dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      const std::string text = model_.dims().text(dims[i], model_.symbols());
      if (std::ranges::find(kNames, text) == kNames.end()) continue;
      hint.seq_len_idx = static_cast<int64_t>(i);
      break;
    }
    return hint;
  }

  const ir::Model& model_;
  const HintOptions& options_;
};

}  // namespace

formats::ShardHints make_shard_hints(const ir::Model& model, const HintOptions& options) {
  return HintMaker(model, options).run();
}

}  // namespace assay::surgery
