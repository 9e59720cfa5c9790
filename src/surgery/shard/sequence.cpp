#include "surgery/shard/sequence.h"

#include <algorithm>
#include <span>

#include "ops/traits.h"
#include "passes/elementwise.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::ValueId;

// The dim in another shape of the same elements that a dim becomes: one of the same size, with as much before or
// behind.
std::optional<int64_t> reshaped(const ops::Dims& in, int64_t dim, const ops::Dims& out) {
  const std::span<const ops::Dim> before(in);
  const std::span<const ops::Dim> behind(out);
  const size_t at = static_cast<size_t>(dim);
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i].equals(in[at])) continue;
    const bool same_before = ops::product(before.first(at)).equals(ops::product(behind.first(i)));
    const bool same_behind = ops::product(before.subspan(at + 1)).equals(ops::product(behind.subspan(i + 1)));
    if (same_before || same_behind) return static_cast<int64_t>(i);
  }
  return std::nullopt;
}

// True if dims of the first operand whose size stays keep their places.
bool keeps_dims_of_first(const ops::Traits& traits) {
  const bool moves = traits.is(ops::Nature::movement) && traits.range == ops::ValueRange::first;
  return traits.is(ops::Nature::normalization) || traits.is(ops::Nature::reduction) ||
         traits.is(ops::Nature::quantization) || traits.is(ops::Nature::noise) ||
         (moves && traits.indices.is_empty() && (traits.moves == ops::Moves::freely || traits.is_identity));
}

}  // namespace

SequenceFlow::SequenceFlow(const ir::Model& model, const ops::Inference& inference,
                           const std::vector<match::AttentionLayer>& layers)
    : facts_(model, inference), layers_(layers) {
  for (const match::AttentionLayer& layer : layers) {
    for (const ValueId value : {layer.k, layer.v}) {
      if (value != layer.q) gathered_.insert(value);
    }
  }
}

// Counted from the end, as broadcasting does; where the size changes, the dim is another.
std::optional<int64_t> SequenceFlow::aligned(ValueId value, int64_t dim, ValueId result) const {
  const ops::Dims in = facts_.dims(value);
  const ops::Dims out = facts_.dims(result);
  const int64_t place = dim + static_cast<int64_t>(out.size()) - static_cast<int64_t>(in.size());
  if (out.size() < in.size() || !in[static_cast<size_t>(dim)].equals(out[static_cast<size_t>(place)])) return {};
  return place;
}

// The inner dims of a product are gone behind it.
std::optional<int64_t> SequenceFlow::multiplied(const ir::Use& use, int64_t dim, ValueId result) const {
  const int64_t rank = static_cast<int64_t>(facts_.dims(use.value).size());
  const int64_t inner = use.index == 0 ? rank - 1 : rank - 2;
  return use.index > 1 || dim == inner ? std::nullopt : aligned(use.value, dim, result);
}

std::optional<int64_t> SequenceFlow::gathered(const ir::Use& use, int64_t dim) const {
  const int64_t rank = *facts_.rank(facts_.operand(use.user, 0));
  const int64_t axis = rank - facts_.axis_from_end(use.user, facts_.attributes(use.user).integer("axis", 0));
  if (use.index == 1) return axis + dim;
  const std::optional<int64_t> indices = facts_.rank(facts_.operand(use.user, 1));
  if (dim == axis || !indices) return std::nullopt;
  return dim < axis ? dim : dim - 1 + *indices;
}

// The dim of the result that a dim of an operand becomes; empty: none, or a node that is not known.
std::optional<int64_t> SequenceFlow::moved(const ir::Use& use, int64_t dim, ValueId result) const {
  const NodeId node = use.user;
  const ops::Dims in = facts_.dims(use.value);
  const ops::Dims out = facts_.dims(result);
  if (static_cast<size_t>(dim) >= in.size() || out.empty() || in[static_cast<size_t>(dim)].is(1)) return {};
  const std::string_view op = facts_.domain(node).empty() ? facts_.op(node) : std::string_view();
  if (op == "Transpose") {
    std::vector<int64_t> perm = facts_.attributes(node).integers("perm");
    if (perm.empty()) return static_cast<int64_t>(in.size()) - 1 - dim;
    const auto found = std::ranges::find(perm, dim);
    return found == perm.end() ? std::nullopt : std::optional(found - perm.begin());
  }
  const ops::Traits& traits = ops::traits("", op);
  if (traits.is_reshape()) return use.index == 0 ? reshaped(in, dim, out) : std::nullopt;
  if (op == "MatMul") return multiplied(use, dim, result);
  if (op == "Gemm") return use.index == 0 ? aligned(use.value, dim, result) : std::nullopt;
  if (op == "Gather") return facts_.rank(facts_.operand(node, 0)) ? gathered(use, dim) : std::nullopt;
  if (op == "Attention" || keeps_dims_of_first(traits)) {
    return use.index == 0 && in.size() == out.size() ? aligned(use.value, dim, result) : std::nullopt;
  }
  return op == "Concat" || passes::is_elementwise(op) ? aligned(use.value, dim, result) : std::nullopt;
}

SequenceDims SequenceFlow::of_layer(const match::AttentionLayer& layer) const {
  SequenceDims found;
  for (const ValueId value : {layer.q, layer.v, layer.k}) {
    const int64_t from_end = value == layer.k && !layer.is_attention_op ? 1 : 2;
    const std::optional<int64_t> rank = facts_.rank(value);
    if (rank && *rank >= from_end) found.try_emplace(value, *rank - from_end);
  }
  return found;
}

void SequenceFlow::follow_back(ValueId value, int64_t dim, SequenceDims& found) const {
  std::vector<std::pair<ValueId, int64_t>> pending = {{value, dim}};
  while (!pending.empty()) {
    const auto [made, place] = pending.back();
    pending.pop_back();
    const NodeId node = facts_.model()[made].producer;
    if (!found.try_emplace(made, place).second || !node) continue;
    for (const ir::Use& use : facts_.model()[node].operands) {
      const int64_t rank = use.value ? facts_.rank(use.value).value_or(0) : 0;
      for (int64_t i = 0; i < rank; ++i) {
        if (moved(use, i, made) == place) pending.emplace_back(use.value, i);
      }
    }
  }
}

SequenceDims SequenceFlow::before_layers() const {
  SequenceDims found;
  for (const auto& get : {&match::AttentionLayer::q, &match::AttentionLayer::v, &match::AttentionLayer::k}) {
    for (const match::AttentionLayer& layer : layers_) {
      const SequenceDims dims = of_layer(layer);
      const auto known = dims.find(layer.*get);
      if (known != dims.end()) follow_back(known->first, known->second, found);
    }
  }
  return found;
}

SequenceDims SequenceFlow::behind(const SequenceDims& values) const {
  SequenceDims found;
  std::vector<std::pair<ValueId, int64_t>> pending(values.begin(), values.end());
  while (!pending.empty()) {
    const auto [value, dim] = pending.back();
    pending.pop_back();
    if (!found.try_emplace(value, dim).second || gathered_.contains(value)) continue;
    for (const ir::Use& use : ir::uses(facts_.model(), value)) {
      const ir::Node& user = facts_.model()[use.user];
      if (user.is_outputs || user.graph != facts_.model().main_graph()) continue;
      for (const ValueId result : user.results) {
        const std::optional<int64_t> place = result ? moved(use, dim, result) : std::nullopt;
        if (place) pending.emplace_back(result, *place);
      }
    }
  }
  return found;
}

SequenceDims SequenceFlow::behind_layers() const {
  SequenceDims results;
  for (const match::AttentionLayer& layer : layers_) {
    const ValueId result = facts_.model()[layer.last].results[0];
    const int64_t rank = facts_.rank(result).value_or(0);
    if (rank >= 2) results.emplace(result, rank - 2);
  }
  return behind(results);
}

// By its axis, which is the sequence.
bool SequenceFlow::joins(const ir::Use& use, int64_t dim) const {
  const ops::Traits& traits = facts_.traits(use.user);
  const ir::Model& model = facts_.model();
  if (traits.range == ops::ValueRange::all && model[use.user].operands.size() < 2) return false;
  const bool is_along_axis =
      traits.is(ops::Nature::selection) || (traits.is(ops::Nature::movement) && traits.indices.is_empty());
  if (!is_along_axis || !model.find_attribute(model[use.user], "axis")) return false;
  const int64_t rank = static_cast<int64_t>(facts_.dims(use.value).size());
  const int64_t axis = facts_.attributes(use.user).integer("axis");
  return dim == (axis < 0 ? axis + rank : axis);
}

NodeId SequenceFlow::find_joiner(const SequenceDims& split) const {
  const ir::Model& model = facts_.model();
  NodeId first;
  for (const auto& [value, dim] : split) {
    if (gathered_.contains(value)) continue;
    for (const ir::Use& use : ir::uses(model, value)) {
      const bool is_joined = !model[use.user].is_outputs && joins(use, dim);
      if (is_joined && (!first || model.is_before(use.user, first))) first = use.user;
    }
  }
  return first;
}

// True if a node makes places of sizes, or picks by them from a constant.
bool SequenceFlow::counts(const ir::Use& use) const {
  const std::string_view op = facts_.op(use.user);
  if (op == "Range" || op == "Trilu" || op == "EyeLike" || op == "CumSum") return true;
  return op == "Slice" && use.index > 0 && facts_.constant(facts_.operand(use.user, 0));
}

// True if a use takes a size that is split: of a shape it may pick another one.
bool SequenceFlow::takes_size(const ir::Use& use, ValueId split, int64_t dim) const {
  if (facts_.op(use.user) != "Gather" || use.index != 0) return true;
  const auto index = facts_.elements(facts_.operand(use.user, 1));
  if (!index || index->size() != 1 || !index->front()) return true;
  const int64_t place = *index->front();
  return dim == (place < 0 ? place + static_cast<int64_t>(facts_.dims(split).size()) : place);
}

// True if the result is made of sizes if the operand is.
bool SequenceFlow::passes_sizes_on(const ir::Use& use) const {
  const ops::Traits& traits = facts_.traits(use.user);
  const bool is_of_all = traits.is(ops::Nature::elementwise) || traits.range == ops::ValueRange::all;
  const bool fills = traits.is(ops::Nature::generator) && traits.typed_by == "value";
  const bool is_of_first = traits.is(ops::Nature::movement) || traits.is(ops::Nature::conversion) || fills;
  return is_of_all || (use.index == 0 && is_of_first);
}

std::vector<const ir::Use*> SequenceFlow::size_uses(const SequenceDims& split) const {
  std::vector<const ir::Use*> found;
  for (const auto& [value, dim] : split) {
    for (const ir::Use& use : ir::uses(facts_.model(), value)) {
      const ir::Node& user = facts_.model()[use.user];
      if (user.is_outputs || facts_.op(use.user) != "Shape" || !user.results[0]) continue;
      for (const ir::Use& reader : ir::uses(facts_.model(), user.results[0])) {
        if (takes_size(reader, value, dim)) found.push_back(&reader);
      }
    }
  }
  return found;
}

NodeId SequenceFlow::find_counter(const SequenceDims& split) const {
  const ir::Model& model = facts_.model();
  NodeId first;
  std::set<NodeId> known;
  std::vector<const ir::Use*> pending = size_uses(split);
  while (!pending.empty()) {
    const ir::Use& use = *pending.back();
    pending.pop_back();
    const ir::Node& user = model[use.user];
    if (user.is_outputs || user.graph != model.main_graph()) continue;
    if (counts(use) && (!first || model.is_before(use.user, first))) first = use.user;
    if (!passes_sizes_on(use) || !known.insert(use.user).second || !user.results[0]) continue;
    for (const ir::Use& next : ir::uses(model, user.results[0])) pending.push_back(&next);
  }
  return first;
}

}  // namespace assay::surgery
