// Before: initializers with the same element type, shape and bits.
// After:  one of them; those of bodies give way to those of the graphs around.
// Only if: the one that goes is no graph output and no default of an input.
#include <unordered_map>
#include <vector>

#include "ir/queries.h"
#include "ir/walk.h"
#include "passes/pass.h"
#include "passes/same.h"

namespace assay::passes {
namespace {

using ir::GraphId;
using ir::ValueId;

struct Weight {
  ValueId value;
  uint64_t hash;
};

// Outer graphs come first, and in a graph its outputs, so that what comes later gives way to what came before.
std::vector<Weight> all_weights(const ir::Model& model) {
  std::vector<Weight> weights;
  for (const GraphId graph : live_graphs(model)) {
    for (const bool wants_outputs : {true, false}) {
      for (const ValueId value : model[graph].initializers) {
        if (model[value].kind != ir::ValueKind::initializer || model[model[value].constant].sparse) continue;
        if (model[value].first_use && is_output(model, value) == wants_outputs) weights.push_back({value, 0});
      }
    }
  }
  return weights;
}

// Hashes all weights and keeps those whose hash another one has too. What cannot be read is like no others.
template <typename Hash>
void keep_alike(const ir::Model& model, std::vector<Weight>& weights, Hash&& hash_of) {
  std::unordered_map<uint64_t, uint32_t> counts;
  std::erase_if(weights, [&](Weight& weight) {
    const std::optional<uint64_t> hash = hash_of(model[model[weight.value].constant].tensor);
    weight.hash = hash.value_or(0);
    if (hash) ++counts[*hash];
    return !hash;
  });
  std::erase_if(weights, [&](const Weight& weight) { return counts[weight.hash] < 2; });
}

// The weight of this graph, or of one around it, that is the same. Those with equal samples are compared with a few
// others only, so that many large ones that differ late cost no more than reading each a few times.
class Known {
 public:
  explicit Known(const ir::Model& model) : model_(model) {}

  ValueId find(const Weight& weight) const {
    for (GraphId graph = model_[weight.value].graph; graph; graph = model_.enclosing(graph)) {
      const auto found = known_.find(key(weight.hash, graph));
      if (found == known_.end()) continue;
      for (const ValueId value : found->second) {
        if (is_same(tensor(value), tensor(weight.value))) return value;
      }
    }
    return {};
  }
  void add(const Weight& weight) {
    constexpr size_t kMostCompared = 8;
    std::vector<ValueId>& values = known_[key(weight.hash, model_[weight.value].graph)];
    if (values.size() < kMostCompared) values.push_back(weight.value);
  }

 private:
  const tensor::Tensor& tensor(ValueId value) const { return model_[model_[value].constant].tensor; }
  static uint64_t key(uint64_t hash, GraphId graph) { return mix(hash, graph.index); }

  const ir::Model& model_;
  std::unordered_map<uint64_t, std::vector<ValueId>> known_;
};

// The lists of initializers are walked once, at the end.
void merge_weights(PassRun& run) {
  const ir::Model& model = run.model();
  std::vector<Weight> weights = all_weights(model);
  keep_alike(model, weights, [](const tensor::Tensor& tensor) { return std::optional(type_hash(tensor)); });
  keep_alike(model, weights, sample_hash);
  Known known(model);
  ir::Patch removal;
  bool is_any = false;
  for (const Weight& weight : weights) {
    const ValueId same = known.find(weight);
    if (!same || is_output(model, weight.value)) {
      if (!same) known.add(weight);
      continue;
    }
    ir::Patch patch;
    patch.replace(weight.value, same);
    if (!run.rewriter().commit("the same weights", patch)) break;
    removal.remove(weight.value);
    is_any = true;
  }
  if (is_any) run.rewriter().commit("nothing uses them", removal);
}

}  // namespace

Pass pass_simplify_merge_weights() {
  return {.name = "merge-weights", .summary = "keep one of weights that are the same", .run = merge_weights};
}

}  // namespace assay::passes
