#include "engine/lowering/join_rotary.h"

#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <set>

#include "engine/layers/graph_reader.h"
#include "engine/layers/spelled_rotary.h"
#include "engine/lowering/moves.h"
#include "ir/queries.h"
#include "ops/traits.h"
#include "passes/constants.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "passes/reshapes.h"
#include "passes/same.h"
#include "schema/imports.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::PatchValue;
using ir::ValueId;

// A part of a Split that becomes heads, and all nodes that turn these: first the Reshape.
struct TurnedHeads {
  NodeId split;
  uint32_t part = 0;
  std::vector<NodeId> nodes;  // in order
  size_t axis = 0;            // of the heads in what the Reshape gives
  size_t last_axis = 0;       // and in the result
  ValueId result;
};

class HeadsReader : GraphReader {
 public:
  HeadsReader(const ir::Model& model, const ops::Inference& inference, const ConstantOf& constant)
      : GraphReader(model, inference, constant) {}

  // The heads whose rotary positions end with a node.
  std::optional<TurnedHeads> find(NodeId last) const {
    const std::optional<SpelledRotary> rotary = match_rotary(model_, inference_, last, constant_);
    if (!rotary) return std::nullopt;
    std::set<NodeId> nodes(rotary->nodes.begin(), rotary->nodes.end());
    std::vector<ValueId> angles;
    ValueId heads;
    for (const SpelledRotary::Piece& piece : rotary->pieces) {
      if (piece.turn == Turn::neighbours) return std::nullopt;  // whose Reshapes count heads
      for (const SpelledRotary::Part& part : piece.parts) {
        const std::vector<NodeId> cuts = last_cuts(model_, inference_, part.value, constant_);
        const ValueId whole = cuts.empty() ? part.value : operand(cuts.back(), 0);
        if (!reshape_before(whole).valid()) {
          angles.push_back(part.value);
          continue;
        }
        if (heads.valid() && heads != whole) return std::nullopt;
        heads = whole;
        nodes.insert(cuts.begin(), cuts.end());
      }
    }
    return heads.valid() ? complete(heads, std::move(nodes), angles, last) : std::nullopt;
  }

  // True if two parts side by side become heads that the same nodes turn by the same angles.
  bool are_alike(const TurnedHeads& a, const TurnedHeads& b) const {
    if (a.split != b.split || b.part != a.part + 1 || a.axis != b.axis || a.last_axis != b.last_axis) return false;
    if (ir::is_output(model_, a.result) || ir::is_output(model_, b.result)) return false;  // written in place
    tensor::Shape dims = dims_of(result(a.nodes[0]));
    const tensor::Shape others = dims_of(result(b.nodes[0]));
    if (dims.size() != others.size() || a.nodes.size() != b.nodes.size()) return false;
    dims[a.axis] = others[b.axis];
    if (dims != others) return false;
    std::map<ValueId, ValueId> counterparts = {{result(a.nodes[0]), result(b.nodes[0])}};
    for (size_t i = 1; i < a.nodes.size(); ++i) {
      if (!are_same_steps(a.nodes[i], b.nodes[i], counterparts)) return false;
    }
    return true;
  }

 private:
  // The Reshape of a part of a Split that gives a value, perhaps with a Transpose behind it; invalid: there is none.
  NodeId reshape_before(ValueId value) const {
    NodeId node = ir::producer(model_, value);
    if (node && ops::traits(model_, node).moves == ops::Moves::by_dims) node = ir::producer(model_, operand(node, 0));
    if (!node || !ops::traits(model_, node).is_reshape()) return {};
    const std::vector<NodeId> cuts = last_cuts(model_, inference_, operand(node, 0), constant_);
    if (cuts.empty() || model_[cuts[0]].results.size() < 2) return {};
    return std::ranges::all_of(model_[cuts[0]].results, &ValueId::valid) ? node : NodeId();
  }

  std::optional<TurnedHeads> complete(ValueId value, std::set<NodeId> nodes, const std::vector<ValueId>& angles,
                                      NodeId last) const {
    const NodeId reshape = reshape_before(value), maker = ir::producer(model_, value);
    nodes.insert({reshape, maker});
    TurnedHeads heads{.split = ir::producer(model_, operand(reshape, 0)), .nodes = {}, .result = result(last)};
    const auto parts = model_[heads.split].results;
    heads.part = static_cast<uint32_t>(std::ranges::find(parts, operand(reshape, 0)) - parts.begin());
    if (!find_axes(heads, reshape, maker) || !are_for_all_heads(angles, heads) || !are_used_inside(nodes, last))
      return {};
    heads.nodes.assign(nodes.begin(), nodes.end());
    std::ranges::sort(heads.nodes, {}, [&](NodeId node) { return model_[node].order; });
    return heads.nodes[0] == reshape ? std::optional(heads) : std::nullopt;
  }
  // Sets the innermost dim of the Reshape from which on dims are columns of the part, and its place in the result.
  bool find_axes(TurnedHeads& heads, NodeId reshape, NodeId maker) const {
    const tensor::Shape dims = dims_of(result(reshape));
    const tensor::Shape part = dims_of(operand(reshape, 0));
    if (dims.size() < 2 || part.empty()) return false;
    heads.axis = dims.size() - 1;
    int64_t columns = dims.back();
    do {
      if (heads.axis == 0) return false;
      columns *= dims[--heads.axis];
    } while (columns != part.back());
    heads.last_axis = heads.axis;
    if (maker == reshape) return true;
    const std::vector<int64_t> order = facts(maker).integers("perm");
    const auto place = std::ranges::find(order, static_cast<int64_t>(heads.axis));
    heads.last_axis = static_cast<size_t>(place - order.begin());
    return heads.last_axis + 1 < order.size();
  }
  bool are_for_all_heads(const std::vector<ValueId>& angles, const TurnedHeads& heads) const {
    const size_t behind = dims_of(heads.result).size() - heads.last_axis;  // dims from the heads on
    return std::ranges::all_of(angles, [&](ValueId angle) {
      const tensor::Shape dims = dims_of(angle);
      return !dims.empty() && (dims.size() < behind || dims[dims.size() - behind] == 1);
    });
  }
  // True if two nodes do the same to values of both sides, and adds what they give.
  bool are_same_steps(NodeId a, NodeId b, std::map<ValueId, ValueId>& counterparts) const {
    const ir::Node& left = model_[a];
    const ir::Node& right = model_[b];
    if (left.op != right.op || left.domain != right.domain || left.operands.size() != right.operands.size())
      return false;
    if (left.results.size() != right.results.size()) return false;
    const auto is_same = [&](const ir::Attribute& x, const ir::Attribute& y) { return passes::is_same(model_, x, y); };
    if (!std::ranges::equal(left.attributes, right.attributes, is_same)) return false;
    for (uint32_t i = 0; i < left.operands.size(); ++i) {
      const ValueId x = operand(a, i), y = operand(b, i);
      const auto known = counterparts.find(x);
      if (known == counterparts.end() ? !are_same_values(x, y) : known->second != y) return false;
    }
    for (size_t i = 0; i < left.results.size(); ++i) counterparts[left.results[i]] = right.results[i];
    return true;
  }
  bool are_same_values(ValueId a, ValueId b) const {
    if (a == b) return true;
    const tensor::Tensor* const left = constant(a);
    const tensor::Tensor* const right = constant(b);
    return left != nullptr && right != nullptr && passes::is_same(*left, *right);
  }
};

// Adds the joined heads of two parts.
class RotaryJoiner {
 public:
  RotaryJoiner(passes::PassRun& run, const TurnedHeads& a, const TurnedHeads& b)
      : run_(run),
        inferred_(run),
        a_(a),
        b_(b),
        first_(run.model().is_before(a.nodes.back(), b.nodes.back()) ? a : b) {}

  void join() {
    const ir::Model& model = run_.model();
    std::map<ValueId, PatchValue> made = {{ir::result(model, first_.nodes[0]), joined_heads()}};
    for (const NodeId node : std::span(first_.nodes).subspan(1)) {
      std::vector<PatchValue> operands;
      for (const ir::Use& use : model[node].operands) {
        const auto found = made.find(use.value);
        operands.push_back(found == made.end() ? PatchValue(use.value) : found->second);
      }
      const std::span<const ir::Attribute> attributes = model[node].attributes;
      const PatchValue result = patch_.add({.op = model.text(model[node].op),
                                            .operands = std::move(operands),
                                            .attributes = {attributes.begin(), attributes.end()},
                                            .result_types = std::vector<ir::TypeId>(model[node].results.size())});
      for (uint32_t k = 0; k < model[node].results.size(); ++k) made[model[node].results[k]] = patch_.result(result, k);
    }
    const PatchValue parts =
        split(made.at(first_.result), {heads_of(a_), heads_of(b_)}, static_cast<int64_t>(a_.last_axis));
    patch_.replace(a_.result, parts);
    patch_.replace(b_.result, patch_.result(parts, 1));
    for (const TurnedHeads* const heads : {&a_, &b_}) {
      for (const NodeId node : std::views::reverse(heads->nodes)) patch_.remove(node);
    }
    patch_.insert_before(first_.nodes.back());
    run_.rewriter().commit("rotary positions of two parts at once", patch_);
  }

 private:
  int64_t heads_of(const TurnedHeads& heads) { return (*inferred_.shape(heads.result))[heads.last_axis]; }
  PatchValue split(PatchValue value, const std::vector<int64_t>& sizes, int64_t axis) {
    return patch_.add({.op = run_.model().text(run_.model()[a_.split].op),
                       .operands = {value, patch_.add_constant(passes::integer_tensor(sizes))},
                       .attributes = {ir::Attribute::of(run_.edit().intern("axis"), axis)},
                       .result_types = std::vector<ir::TypeId>(sizes.size())});
  }
  // Both parts as one.
  PatchValue joined_parts() {
    const ir::Model& model = run_.model();
    std::vector<int64_t> sizes;
    for (const ValueId part : model[a_.split].results) sizes.push_back(inferred_.shape(part)->back());
    sizes[a_.part] += sizes[b_.part];
    sizes.erase(sizes.begin() + b_.part);
    const ValueId all = ir::operand(model, a_.split, 0);
    return sizes.size() == 1 ? PatchValue(all) : patch_.result(split(all, sizes, -1), a_.part);
  }
  PatchValue joined_heads() {
    tensor::Shape dims = *inferred_.shape(ir::result(run_.model(), first_.nodes[0]));
    dims[first_.axis] = heads_of(a_) + heads_of(b_);
    return passes::add_reshape(patch_, joined_parts(), {dims.begin(), dims.end()});
  }

  passes::PassRun& run_;
  passes::Inferred inferred_;
  const TurnedHeads& a_;
  const TurnedHeads& b_;
  const TurnedHeads& first_;  // the one that is turned first
  ir::Patch patch_;
};

// True for operators that may be the last of rotary positions.
bool may_end_rotary(const ir::Model& model, NodeId node) {
  return ops::traits(model, node).is(ops::Nature::elementwise) || is_concat(model, node);
}

void join_all(passes::PassRun& run) {
  const ir::Model& model = run.model();
  const ConstantOf constant = [&](ValueId value) { return run.constant(value); };
  const HeadsReader reader(model, run.inference(), constant);
  std::map<std::pair<NodeId, uint32_t>, TurnedHeads> found;  // by the part that they are of
  for (const NodeId node : ir::nodes(model, model.main_graph())) {
    if (!ir::result(model, node) || !may_end_rotary(model, node)) continue;
    const auto heads = reader.find(node);
    if (heads) found.emplace(std::pair(heads->split, heads->part), *heads);  // attention scales queries behind that
  }
  std::vector<std::pair<TurnedHeads, TurnedHeads>> pairs;
  for (auto at = found.begin(); at != found.end();) {
    const auto first = at++;
    if (at == found.end() || !reader.are_alike(first->second, at->second)) continue;
    pairs.emplace_back(first->second, at->second);
    ++at;
  }
  for (const auto& [a, b] : pairs) RotaryJoiner(run, a, b).join();
}

}  // namespace

void join_rotary(ir::Model& model, ir::Rewriter& rewriter) {
  constexpr int64_t kFirstSplitOfOperands = 13;
  if (schema::imported_version(model) < kFirstSplitOfOperands) return;
  const std::array<passes::Pass, 1> pass = {{{.name = "join-rotary",
                                              .summary = "rotary positions of queries and keys at once",
                                              .pass_class = passes::PassClass::exact,
                                              .run = join_all}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
