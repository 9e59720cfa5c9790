#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "match/attention.h"
#include "surgery/shard/sequence.h"
#include "surgery/shard/shard.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::ValueId;

class HintMaker {
 public:
  HintMaker(ir::Model& model, const HintOptions& options)
      : model_(model), options_(options), layers_(match::attention(model)) {
    const bool follows = options.follows_inputs || options.follows_outputs || options.follows_k || options.follows_v;
    if (!follows) return;
    inference_.emplace(model).run();
    flow_.emplace(model, *inference_, layers_);
  }

  formats::ShardHints run() {
    formats::ShardHints hints = options_.base;
    std::vector<NodeId> lasts;
    for (const match::AttentionLayer& layer : layers_) {
      if (options_.is_scaled && !layer.scaled) continue;
      formats::AttentionLayerHint hint = options_.layer;
      hint.q = name_of(options_.is_scaled ? layer.scaled->q : layer.q);
      hints.attention_layers.push_back(std::move(hint));
      lasts.push_back(layer.last);
      for (const ValueId value : {layer.k, layer.v}) {
        if (!hints.kv_rank) hints.kv_rank = rank_of(value);
      }
    }
    if (flow_ && !layers_.empty()) follow_layer(layers_.front(), hints);
    if (!options_.suggests_io || lasts.empty()) return hints;
    hints.inputs = inputs_before(lasts);
    hints.outputs = outputs_behind(lasts);
    if (options_.follows_inputs) follow_inputs(hints.inputs);
    if (options_.follows_outputs) follow_outputs(hints.outputs);
    return hints;
  }

 private:
  void follow_layer(const match::AttentionLayer& layer, formats::ShardHints& hints) const {
    const SequenceDims dims = flow_->of_layer(layer);
    if (!hints.kv_rank) hints.kv_rank = flow_->rank(layer.k);
    if (options_.follows_k && dims.contains(layer.k)) hints.k_seq_len_idx = dims.at(layer.k);
    if (options_.follows_v && dims.contains(layer.v)) hints.v_seq_len_idx = dims.at(layer.v);
  }

  // Inputs without the sequence, as masks of K alone, are whole on each device.
  void follow_inputs(std::vector<formats::ShardTensor>& inputs) const {
    const SequenceDims dims = flow_->before_layers();
    std::vector<formats::ShardTensor> found;
    for (const ValueId value : model_[model_.main_graph()].inputs) {
      const auto hint = std::ranges::find(inputs, name_of(value), &formats::ShardTensor::name);
      if (hint == inputs.end() || !dims.contains(value)) continue;
      found.push_back(*hint);
      found.back().seq_len_idx = dims.at(value);
    }
    if (found.empty() && !inputs.empty()) {
      throw Error(ErrorCode::usage, "no input is known to have the sequence of the attention layers; name its dim")
          .remedied_by("i_idx");
    }
    inputs = std::move(found);
  }

  void follow_outputs(std::vector<formats::ShardTensor>& outputs) const {
    const SequenceDims dims = flow_->behind_layers();
    for (const ir::Use& use : model_.outputs(model_.main_graph())) {
      if (!use.value) continue;
      const auto hint = std::ranges::find(outputs, name_of(use.value), &formats::ShardTensor::name);
      if (hint == outputs.end()) continue;
      if (!dims.contains(use.value)) {
        throw Error(ErrorCode::usage,
                    fmt::format("`{}` is not known to have the sequence of the attention layers before it, of which a "
                                "device has a part; name its dim",
                                printable(name_of(use.value))))
            .remedied_by("o_idx");
      }
      hint->seq_len_idx = dims.at(use.value);
    }
  }

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
  std::vector<match::AttentionLayer> layers_;
  std::optional<ops::Inference> inference_;
  std::optional<SequenceFlow> flow_;
};

}  // namespace

formats::ShardHints make_shard_hints(ir::Model& model, const HintOptions& options) {
  return HintMaker(model, options).run();
}

}  // namespace assay::surgery
