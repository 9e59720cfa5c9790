#include "surgery/shard/shard.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/edit.h"
#include "ir/verify.h"
#include "match/attention.h"
#include "ops/write_types.h"
#include "surgery/boundary_types.h"
#include "surgery/dead.h"
#include "surgery/names.h"
#include "surgery/shard/check_parts.h"
#include "surgery/shard/collective.h"
#include "surgery/shard/sequence.h"
#include "surgery/shard/shape_facts.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::ValueId;

constexpr std::string_view kReduceScatter = "reduce_scatter";
constexpr std::string_view kAllGather = "all_gather";

class Sharder {
 public:
  Sharder(ir::Model& model, const formats::ShardHints& hints)
      : model_(model),
        edit_(model),
        live_(edit_),
        nodes_(model, edit_, hints),
        hints_(hints),
        layers_(match::attention(model)) {
    index_layers();
    const auto fuses = [](const formats::AttentionLayerHint& hint) { return hint.replace.has_value(); };
    if (std::ranges::any_of(hints.attention_layers, fuses)) facts_.emplace(model, live_.now());
  }

  Sharding run() {
    const NamedValues named(model_);
    for (const formats::ShardTensor& input : hints_.inputs) inputs_.push_back(named[input.name]);
    for (const formats::ShardTensor& output : hints_.outputs) outputs_.push_back(named[output.name]);
    check_places();
    remember_types();
    for (const formats::AttentionLayerHint& hint : hints_.attention_layers) gather_layer(hint);
    if (!is_q_gathered()) {
      for (size_t i = 0; i < outputs_.size(); ++i) {
        gather(outputs_[i], hints_.outputs[i].seq_len_idx, hints_.outputs[i].rank);
      }
    }
    for (size_t i = 0; i < inputs_.size(); ++i) scatter(inputs_[i], hints_.inputs[i]);
    remove_dead(model_, edit_);
    done_.misfit = check_parts(model_, edit_, live_, parts_, device_count());
    renew_shapes(model_, edit_, live_, changed_);
    restore_output_types();
    return std::move(done_);
  }

 private:
  // A layer by one of the names of its Q: as the product reads it, or before it is scaled.
  struct FoundLayer {
    size_t layer = 0;
    bool is_unscaled = false;
    ValueId q;
    ValueId k;
  };

  void index_layers() {
    for (size_t i = 0; i < layers_.size(); ++i) {
      const match::AttentionLayer& layer = layers_[i];
      by_q_.emplace(model_.text(model_[layer.q].name), FoundLayer{i, false, layer.q, layer.k});
      if (!layer.scaled) continue;
      by_q_.emplace(model_.text(model_[layer.scaled->q].name), FoundLayer{i, true, layer.scaled->q, layer.scaled->k});
    }
  }

  void gather_layer(const formats::AttentionLayerHint& hint) {
    const auto [first, end] = by_q_.equal_range(hint.q);
    if (first == end) done_.unmatched.push_back(hint.q);
    for (auto found = first; found != end; ++found) {
      const FoundLayer& layer = found->second;
      if (hint.replace) {
        fuse(layer, *hint.replace);
        continue;
      }
      if (!hint.gather_q) check_masks(layers_[layer.layer]);
      if (hint.gather_q) gather_operand(layer.q, hints_.k_seq_len_idx);
      if (hint.gather_kv) gather_operand(layer.k, hints_.k_seq_len_idx);
      if (hint.gather_kv) gather_operand(layers_[layer.layer].v, hints_.v_seq_len_idx);
      matched_.push_back(layer.q);
    }
  }

  // A node that masks by place takes a part of Q for its first part, on each device.
  void check_masks(const match::AttentionLayer& layer) const {
    if (!layer.is_attention_op) return;
    const auto number = [&](std::string_view name, int64_t otherwise) {
      const ir::Attribute* const found = model_.find_attribute(model_[layer.last], name);
      return found && found->type() == ir::AttributeType::integer ? found->integer() : otherwise;
    };
    const bool has_window = number("left_window_size", -1) >= 0 || number("right_window_size", -1) >= 0;
    if (number("is_causal", 0) == 0 && !has_window) return;
    fail(ErrorCode::usage,
         "{} masks by the places in the sequence, which a device with a part of Q does not know; gather Q too "
         "(gather_q of hints), or let the model be given the mask",
         ir::describe(model_, layer.last));
  }

  // Checks that no device counts places by the shapes that it has: they are not the places in the whole sequence.
  void check_places() {
    SequenceDims split;
    for (size_t i = 0; i < inputs_.size(); ++i) split.emplace(inputs_[i], hints_.inputs[i].seq_len_idx);
    const SequenceFlow flow(model_, live_.now(), layers_);
    const SequenceDims parts = flow.behind(split);
    for (const auto& [value, dim] : parts) done_.splits.emplace(value, SplitValue{.dim = dim});
    if (const NodeId joiner = flow.find_joiner(parts)) {
      fail(ErrorCode::unsupported,
           "the sequence cannot be split: {} works along it, and a device has a part; a past of keys and values cannot "
           "stand before a part",
           ir::describe(model_, joiner));
    }
    const NodeId counter = flow.find_counter(parts);
    if (!counter) return;
    fail(ErrorCode::usage,
         "the sequence cannot be split: {} counts its places by the shape of what is split, of which a device has a "
         "part; let the model be given them",
         ir::describe(model_, counter));
  }

  // The number of devices; two for hints that do not say it.
  int64_t device_count() const {
    const int64_t listed = static_cast<int64_t>(hints_.groups.size());
    if (hints_.group_size > 0) return hints_.group_size;
    return listed > 0 ? listed : std::max<int64_t>(hints_.nb_rank, 2);
  }

  // The type in the whole model, or the one that it declares for a value made since.
  ir::TypeId whole_type(ValueId value) const {
    const auto found = whole_.find(value);
    return found != whole_.end() && found->second ? found->second : model_[value].type;
  }

  // On purpose, or because it is the K or V of a layer.
  bool is_q_gathered() const {
    return std::ranges::any_of(matched_, [&](ValueId q) { return gathered_.contains(current(q)); });
  }

  // The value that gives the elements now: the result of the node that a layer was fused into, or itself.
  ValueId current(ValueId value) const {
    const auto found = fused_.find(value);
    return found == fused_.end() ? value : found->second;
  }

  void gather_operand(ValueId value, int64_t index) { gather(value, index, hints_.kv_rank); }

  void gather(ValueId named, int64_t index, std::optional<int64_t> rank) {
    const ValueId value = current(named);
    if (!gathered_.insert(value).second) return;
    add_behind(value, kAllGather, {index, rank});
  }

  void scatter(ValueId value, const formats::ShardTensor& hint) {
    if (model_[value].kind == ir::ValueKind::initializer) {
      fail(ErrorCode::usage, "`{}` is a constant; only what differs from run to run is scattered",
           printable(hint.name));
    }
    add_behind(current(value), kReduceScatter, {hint.seq_len_idx, hint.rank});
  }

  struct Place {
    int64_t index = 0;  // of the sequence dim
    std::optional<int64_t> rank;
  };

  // The collective works on dim 0: another one is brought there and back.
  void add_behind(ValueId value, std::string_view operation, const Place& place) {
    const std::string name = printable(model_.text(model_[value].name));
    const int64_t rank = rank_of(value, place, name);
    check_dim(value, place.index, name);
    if (operation == kReduceScatter) check_length(value, place.index, name);
    nodes_.stand_before(model_[value].producer ? model_[model_[value].producer].next
                                               : model_[model_.main_graph()].first);
    const std::vector<NodeId> readers = readers_of(model_, value);
    ValueId result = value;
    if (place.index > 0) result = add_swap(result, place.index, rank);
    result = nodes_.add_collective(result, operation);
    if (place.index > 0) result = add_swap(result, place.index, rank);
    nodes_.move_uses(value, result, readers);
    if (const ir::TypeId type = model_[value].type) {
      edit_.set_type(result, model_.types().unranked_tensor(model_[type].dtype));
    }
    changed_.push_back(result);
    parts_.push_back(
        {result, whole_type(value), operation == kReduceScatter ? std::optional(place.index) : std::nullopt});
    done_.steps.push_back({std::string(operation), name, ""});
  }

  int64_t rank_of(ValueId value, const Place& place, const std::string& name) const {
    const ir::TypeId type = model_[value].type;
    if (type && model_[type].kind != ir::TypeKind::tensor) {
      fail(ErrorCode::usage, "`{}` is no tensor: it has no sequence dim", name);
    }
    const bool is_known = type && model_[type].ranked;
    const int64_t rank = is_known ? static_cast<int64_t>(model_[type].dims.size()) : place.rank.value_or(0);
    if (place.index == 0) return rank;
    if (!is_known && !place.rank) {
      throw Error(ErrorCode::shape, fmt::format("the rank of `{}` is not known; add it to the hints", name))
          .remedied_by("shape_inference");
    }
    if (place.index < 0 || place.index >= rank || rank > 64) {
      fail(ErrorCode::shape, "`{}` has {} dims: dim {} cannot be that of the sequence", name, rank, place.index);
    }
    return rank;
  }

  void check_dim(ValueId value, int64_t index, const std::string& name) const {
    const ir::TypeId type = model_[value].type;
    if (hints_.group_size <= 1 || !type || !model_[type].ranked) return;
    const std::vector<ir::DimId>& dims = model_[type].dims;
    if (static_cast<size_t>(index) >= dims.size()) {
      fail(ErrorCode::shape, "`{}` has {} dims: dim {} cannot be that of the sequence", name, dims.size(), index);
    }
    const std::optional<int64_t> size = model_.dims().as_constant(dims[static_cast<size_t>(index)]);
    if (size && *size % hints_.group_size != 0) {
      fail(ErrorCode::shape, "dim {} of `{}` is {}, which {} devices cannot share evenly", index, name, *size,
           hints_.group_size);
    }
  }

  void check_length(ValueId value, int64_t index, const std::string& name) const {
    const ir::TypeId type = model_[value].type;
    if (device_count() < 2 || !type || !model_[type].ranked) return;
    const std::vector<ir::DimId>& dims = model_[type].dims;
    if (static_cast<size_t>(index) >= dims.size() || model_.dims().as_constant(dims[static_cast<size_t>(index)]) != 1)
      return;
    throw Error(ErrorCode::shape,
                fmt::format("dim {} of `{}` is 1, so it is not that of the sequence; name another", index, name))
        .remedied_by("i_idx");
  }

  ValueId add_swap(ValueId value, int64_t index, int64_t rank) {
    std::vector<int64_t> order(static_cast<size_t>(rank));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::swap(order[0], order[static_cast<size_t>(index)]);
    return nodes_.add_transpose(value, order);
  }

  // Constant factors of the scores become the scale; anything else would be lost.
  void fuse(const FoundLayer& found, const formats::FusedAttention& how) {
    const match::AttentionLayer& layer = layers_[found.layer];
    if (layer.is_attention_op) refuse_to_fuse(found, "it is one node already");
    if (layer.behind) refuse_to_fuse(found, ir::describe(model_, layer.behind) + " is part of it");
    const double scale = scale_of(found);
    const ValueId old = model_[layer.last].results[0];
    if (fused_.contains(old)) return;
    nodes_.stand_before(layer.last);
    const std::array operands = {shuffled(found.q, how.q_shuffle), shuffled(found.k, how.k_shuffle),
                                 shuffled(layer.v, how.v_shuffle)};
    const std::array attributes = {ir::Attribute::of(edit_.intern("is_causal"), int64_t{how.is_causal}),
                                   ir::Attribute::of(edit_.intern("scale"), static_cast<float>(scale)),
                                   ir::Attribute::of(edit_.intern("TRT_decomposable"), int64_t{0}),
                                   ir::Attribute::of(edit_.intern("nb_rank"), how.nb_rank)};
    const ValueId result = nodes_.add_node("Attention", operands, attributes);
    const ir::Symbol name = model_[old].name;
    edit_.rename(old, model_[result].name);
    edit_.rename(result, name);
    if (const ir::TypeId type = model_[old].type) edit_.set_type(result, type);
    edit_.replace_uses(old, result);
    done_.steps.push_back({"fuse", printable(model_.text(name)), ""});
    fused_[old] = result;
  }

  double scale_of(const FoundLayer& found) const {
    const match::AttentionLayer& layer = layers_[found.layer];
    double scale = 1;
    if (found.is_unscaled) {
      const std::optional<double> q = facts_->number(layer.scaled->q_scale);
      const std::optional<double> k = facts_->number(layer.scaled->k_scale);
      if (!q || !k) refuse_to_fuse(found, "the factors of Q and K are not known");
      scale = *q * *k;
    }
    for (const NodeId node : layer.before) {
      const std::optional<double> factor = factor_of(node);
      if (!factor) refuse_to_fuse(found, ir::describe(model_, node) + " is part of it");
      scale *= *factor;
    }
    return scale;
  }

  // The number by which a Mul or Div by one constant multiplies.
  std::optional<double> factor_of(NodeId node) const {
    const ir::Node& facts = model_[node];
    const std::string_view op = model_.text(facts.op);
    if ((op != "Mul" && op != "Div") || facts.operands.size() != 2) return std::nullopt;
    const std::optional<double> second = facts_->number(facts.operands[1].value);
    if (op == "Mul") return second ? second : facts_->number(facts.operands[0].value);
    return second && *second != 0 ? std::optional(1 / *second) : std::nullopt;
  }

  [[noreturn]] void refuse_to_fuse(const FoundLayer& found, std::string_view why) const {
    throw Error(ErrorCode::usage, fmt::format("the attention layer with Q `{}` cannot be one fused node: {}",
                                              printable(model_.text(model_[found.q].name)), why))
        .remedied_by("cp_type");
  }

  ValueId shuffled(ValueId value, const std::optional<std::vector<int64_t>>& order) {
    return order ? nodes_.add_transpose(current(value), *order) : current(value);
  }

  void remember_types() {
    const auto remember = [this](ValueId value) { whole_[value] = ops::to_model(live_.now().type(value), model_); };
    for (const match::AttentionLayer& layer : layers_) {
      for (const ValueId value : {layer.q, layer.k, layer.v}) remember(value);
    }
    for (const auto* values : {&inputs_, &outputs_}) std::ranges::for_each(*values, remember);
    for (const ir::Use& use : model_.outputs(model_.main_graph())) {
      output_types_.push_back(use.value ? model_[use.value].type : ir::TypeId{});
    }
  }

  void restore_output_types() {
    const std::span<const ir::Use> outputs = model_.outputs(model_.main_graph());
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].value && output_types_[i]) edit_.set_type(outputs[i].value, output_types_[i]);
    }
  }

  ir::Model& model_;
  ir::Edit edit_;
  ops::LiveInference live_;
  ShardNodes nodes_;
  const formats::ShardHints& hints_;
  std::vector<match::AttentionLayer> layers_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::multimap<std::string, FoundLayer, std::less<>> by_q_;
  std::optional<ShapeFacts> facts_;  // set if layers are fused
  std::map<ValueId, ValueId> fused_;
  std::set<ValueId> gathered_;
  std::vector<ValueId> matched_;  // Q of the layers that hints name
  std::vector<ValueId> changed_;
  std::vector<LocalPart> parts_;         // of those
  std::map<ValueId, ir::TypeId> whole_;  // types before anything was split
  std::vector<ir::TypeId> output_types_;
  Sharding done_;
};

}  // namespace

Sharding shard(ir::Model& model, const formats::ShardHints& hints) {
  check_shard_hints(hints);
  return Sharder(model, hints).run();
}

}  // namespace assay::surgery
