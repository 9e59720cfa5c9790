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
#include "surgery/boundary_types.h"
#include "surgery/dead.h"
#include "surgery/names.h"
#include "surgery/shard/attention.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::ValueId;

enum class Collective { reduce_scatter, all_gather };

std::string_view name_of(Collective collective) {
  return collective == Collective::reduce_scatter ? "reduce_scatter" : "all_gather";
}

class Sharder {
 public:
  Sharder(ir::Model& model, const formats::ShardHints& hints)
      : model_(model), edit_(model), hints_(hints), layers_(find_attention(model)) {
    for (size_t i = 0; i < layers_.size(); ++i) {
      by_q_.emplace(model.text(model[layers_[i].q].name), i);
    }
  }

  Sharding run() {
    const NamedValues named(model_);
    for (const formats::ShardTensor& input : hints_.inputs) inputs_.push_back(named[input.name]);
    for (const formats::ShardTensor& output : hints_.outputs) outputs_.push_back(named[output.name]);
    remember_output_types();
    for (const formats::AttentionLayerHint& hint : hints_.attention_layers) gather_layer(hint);
    if (!is_q_gathered()) {
      for (size_t i = 0; i < outputs_.size(); ++i) {
        gather(outputs_[i], hints_.outputs[i].seq_len_idx, hints_.outputs[i].rank);
      }
    }
    for (size_t i = 0; i < inputs_.size(); ++i) scatter(inputs_[i], hints_.inputs[i]);
    remove_dead(model_);
    renew_shapes(model_, changed_);
    restore_output_types();
    return std::move(done_);
  }

 private:
  void gather_layer(const formats::AttentionLayerHint& hint) {
    const auto [first, end] = by_q_.equal_range(hint.q);
    if (first == end) done_.unmatched.push_back(hint.q);
    for (auto found = first; found != end; ++found) {
      const AttentionLayer& layer = layers_[found->second];
      if (hint.replace) {
        fuse(layer, *hint.replace);
        continue;
      }
      if (hint.gather_q) gather_operand(layer.q, hints_.k_seq_len_idx);
      if (hint.gather_kv) gather_operand(layer.k, hints_.k_seq_len_idx);
      if (hint.gather_kv) gather_operand(layer.v, hints_.v_seq_len_idx);
      matched_.push_back(layer.q);
    }
  }

  // On purpose, or because it is the K or V of a layer.
  bool is_q_gathered() const {
    return std::ranges::any_of(matched_, [&](ValueId q) { return gathered_.contains(current(q)); });
  }

  // What gives the value's elements now: the result of the node that a layer was fused into, or itself.
  ValueId current(ValueId value) const {
    const auto found = fused_.find(value);
    return found == fused_.end() ? value : found->second;
  }

  void gather_operand(ValueId value, int64_t index) { gather(value, index, hints_.kv_rank); }

  void gather(ValueId named, int64_t index, std::optional<int64_t> rank) {
    const ValueId value = current(named);
    if (!gathered_.insert(value).second) return;
    add_behind(value, Collective::all_gather, {index, rank});
  }

  void scatter(ValueId value, const formats::ShardTensor& hint) {
    if (model_[value].kind == ir::ValueKind::initializer) {
      fail(ErrorCode::usage, "`{}` is a constant; only what differs from run to run is scattered",
           printable(hint.name));
    }
    add_behind(current(value), Collective::reduce_scatter, {hint.seq_len_idx, hint.rank});
  }

  struct Place {
    int64_t index = 0;  // of the sequence dim
    std::optional<int64_t> rank;
  };

  // The collective works on dim 0: another one is brought there and back.
  void add_behind(ValueId value, Collective collective, const Place& place) {
    const std::string name = printable(model_.text(model_[value].name));
    const int64_t rank = rank_of(value, place, name);
    check_dim(value, place.index, name);
    before_ = model_[value].producer ? model_[model_[value].producer].next : model_[model_.main_graph()].first;
    const std::vector<NodeId> readers = readers_of(value);
    ValueId result = value;
    if (place.index > 0) result = add_swap(result, place.index, rank);
    result = add_collective(result, collective);
    if (place.index > 0) result = add_swap(result, place.index, rank);
    move_uses(value, result, readers);
    done_.steps.push_back({std::string(name_of(collective)), name});
  }

  std::vector<NodeId> readers_of(ValueId value) const {
    std::vector<NodeId> readers;
    for (const ir::Use& use : ir::uses(model_, value)) readers.push_back(use.user);
    return readers;
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
      fail(ErrorCode::shape, "the rank of `{}` is not known; say it in the hints, or use --shape-inference", name);
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

  ValueId add_swap(ValueId value, int64_t index, int64_t rank) {
    std::vector<int64_t> order(static_cast<size_t>(rank));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::swap(order[0], order[static_cast<size_t>(index)]);
    return add_transpose(value, order);
  }

  ValueId add_transpose(ValueId value, const std::vector<int64_t>& order) {
    const std::span<const int64_t> kept = model_.arena().copy(std::span<const int64_t>(order));
    const ir::Attribute perm = ir::Attribute::list(edit_.intern("perm"), ir::AttributeType::integers, kept);
    return add_node("Transpose", {&value, 1}, {&perm, 1});
  }

  ValueId add_collective(ValueId value, Collective collective) {
    const bool is_scatter = collective == Collective::reduce_scatter;
    const std::span<const int64_t> groups = model_.arena().copy(std::span<const int64_t>(hints_.groups));
    const std::array attributes = {
        ir::Attribute::of(edit_.intern("group_size"), hints_.group_size),
        ir::Attribute::of(edit_.intern("root"), hints_.root),
        ir::Attribute::of(edit_.intern("nb_rank"), hints_.nb_rank),
        text_attribute("reduce_op", is_scatter ? hints_.reduce_op : "none"),
        text_attribute("collective_operation", name_of(collective)),
        ir::Attribute::list(edit_.intern("groups"), ir::AttributeType::integers, groups),
    };
    return add_node("DistCollective", {&value, 1}, attributes);
  }

  ir::Attribute text_attribute(std::string_view name, std::string_view text) {
    return ir::Attribute::of(edit_.intern(name), ir::AttributeType::string, edit_.intern(text));
  }

  ValueId add_node(std::string_view op, std::span<const ValueId> operands, std::span<const ir::Attribute> attributes) {
    const ir::Symbol result = next_name();
    const ir::Symbol label = next_name();
    const ir::NodeSpec spec = {.op = edit_.intern(op),
                               .name = model_.text(label),
                               .operands = operands,
                               .results = {&result, 1},
                               .attributes = attributes};
    const NodeId node = edit_.add_node(model_.main_graph(), spec, before_);
    return model_[node].results[0];
  }

  ir::Symbol next_name() {
    std::string name;
    do {
      name = fmt::format("shard_{}", next_name_++);
    } while (model_.symbols().find(name).valid());
    return edit_.intern(name);
  }

  // The readers read the new value; as an output of the graph it has the name of the old one.
  void move_uses(ValueId old, ValueId result, const std::vector<NodeId>& readers) {
    const bool is_output = std::ranges::any_of(readers, [&](NodeId reader) {
      return model_[reader].is_outputs && model_[reader].graph == model_.main_graph();
    });
    if (is_output && model_[old].kind == ir::ValueKind::input) {
      fail(ErrorCode::usage, "`{}` is an input and an output of the graph, and cannot be split",
           printable(model_.text(model_[old].name)));
    }
    if (is_output) {
      const ir::Symbol name = model_[old].name;
      edit_.rename(old, model_[result].name);
      edit_.rename(result, name);
    }
    for (const NodeId reader : std::set<NodeId>(readers.begin(), readers.end())) {
      for (uint32_t i = 0; i < model_[reader].operands.size(); ++i) {
        if (model_[reader].operands[i].value == old) edit_.set_operand(reader, i, result);
      }
    }
    if (const ir::TypeId type = model_[old].type) {
      edit_.set_type(result, model_.types().unranked_tensor(model_[type].dtype));
    }
    changed_.push_back(result);
  }

  void fuse(const AttentionLayer& layer, const formats::FusedAttention& how) {
    if (layer.between || layer.is_attention_op) {
      fail(ErrorCode::usage, "the attention layer with Q `{}` cannot be one fused node: {}; use --cp-type native",
           printable(model_.text(model_[layer.q].name)),
           layer.between ? ir::describe(model_, layer.between) + " stands in it" : "it is one node already");
    }
    const ValueId old = model_[layer.last].results[0];
    if (fused_.contains(old)) return;
    before_ = layer.last;
    const std::array operands = {shuffled(layer.q, how.q_shuffle), shuffled(layer.k, how.k_shuffle),
                                 shuffled(layer.v, how.v_shuffle)};
    const std::array attributes = {ir::Attribute::of(edit_.intern("is_causal"), int64_t{how.is_causal}),
                                   ir::Attribute::of(edit_.intern("scale"), 1.0F),
                                   ir::Attribute::of(edit_.intern("TRT_decomposable"), int64_t{0}),
                                   ir::Attribute::of(edit_.intern("nb_rank"), how.nb_rank)};
    const ValueId result = add_node("Attention", operands, attributes);
    const ir::Symbol name = model_[old].name;
    edit_.rename(old, model_[result].name);
    edit_.rename(result, name);
    if (const ir::TypeId type = model_[old].type) edit_.set_type(result, type);
    edit_.replace_uses(old, result);
    done_.steps.push_back({"fuse", printable(model_.text(name))});
    fused_[old] = result;
  }

  ValueId shuffled(ValueId value, const std::optional<std::vector<int64_t>>& order) {
    return order ? add_transpose(current(value), *order) : current(value);
  }

  void remember_output_types() {
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
  const formats::ShardHints& hints_;
  std::vector<AttentionLayer> layers_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::multimap<std::string, size_t, std::less<>> by_q_;  // layers by the name of their Q
  std::map<ValueId, ValueId> fused_;
  std::set<ValueId> gathered_;
  std::vector<ValueId> matched_;  // Q of the layers that hints name
  NodeId before_;                 // where new nodes stand
  uint64_t next_name_ = 0;
  std::vector<ValueId> changed_;
  std::vector<ir::TypeId> output_types_;
  Sharding done_;
};

// A shuffle names every dim once.
void check_shuffles(const formats::AttentionLayerHint& layer) {
  if (!layer.replace) return;
  for (const auto& shuffle : {layer.replace->q_shuffle, layer.replace->k_shuffle, layer.replace->v_shuffle}) {
    if (!shuffle) continue;
    std::vector<int64_t> sorted = *shuffle;
    std::ranges::sort(sorted);
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] == static_cast<int64_t>(i)) continue;
      fail(ErrorCode::usage, "a shuffle of the layer `{}` is no order of its {} dims", printable(layer.q),
           sorted.size());
    }
  }
}

}  // namespace

void check_shard_hints(const formats::ShardHints& hints) {
  for (const formats::AttentionLayerHint& layer : hints.attention_layers) check_shuffles(layer);
  static constexpr std::array<std::string_view, 5> kOps = {"sum", "prod", "min", "max", "avg"};
  if (hints.parallelism != "CP") {
    fail(ErrorCode::unsupported, "parallelism `{}` is not supported; expected CP", printable(hints.parallelism));
  }
  if (std::ranges::find(kOps, hints.reduce_op) == kOps.end()) {
    fail(ErrorCode::usage, "the operator `{}` cannot reduce; expected sum, prod, min, max or avg",
         printable(hints.reduce_op));
  }
  if (hints.group_size < 0 || hints.nb_rank < 1 || hints.root < -1) {
    fail(ErrorCode::usage, "group size {}, number of ranks {} and root {} cannot be; expected at least 0, 1 and -1",
         hints.group_size, hints.nb_rank, hints.root);
  }
  std::set<int64_t> devices;
  for (const int64_t device : hints.groups) {
    if (device < 0) fail(ErrorCode::usage, "the groups name the device {}; expected at least 0", device);
    if (!devices.insert(device).second) fail(ErrorCode::usage, "the groups name the device {} twice", device);
  }
  const int64_t count = static_cast<int64_t>(hints.groups.size());
  if (hints.group_size > 0 && count % hints.group_size != 0) {
    fail(ErrorCode::usage, "{} devices cannot be put into groups of {}", count, hints.group_size);
  }
}

Sharding shard(ir::Model& model, const formats::ShardHints& hints) {
  check_shard_hints(hints);
  return Sharder(model, hints).run();
}

}  // namespace assay::surgery
