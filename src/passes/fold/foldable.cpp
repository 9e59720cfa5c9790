#include "passes/fold/foldable.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "passes/fold/fold_options.h"

namespace assay::passes {
namespace {

class Search {
 public:
  explicit Search(PassRun& run) : run_(run), model_(run.model()), is_constant_(model_.value_slots()) {}

  std::vector<ir::NodeId> run() {
    // The next node of each graph on the way down.
    std::vector<ir::NodeId> pending = {model_[model_.main_graph()].first};
    for (const ir::Function& function : model_.functions()) pending.push_back(model_[function.body].first);
    while (!pending.empty()) {
      const ir::NodeId node = pending.back();
      if (!node.valid()) {
        pending.pop_back();
        continue;
      }
      pending.back() = model_[node].next;
      if (is_foldable(node)) {
        take(node);
        continue;
      }
      for (const ir::GraphId body : model_.bodies(model_[node])) pending.push_back(model_[body].first);
    }
    return std::move(found_);
  }

 private:
  void take(ir::NodeId node) {
    found_.push_back(node);
    for (const ir::ValueId result : model_[node].results) {
      if (result.valid()) is_constant_[result.index] = true;
    }
  }

  bool is_constant(ir::ValueId value) const {
    const ir::Value& facts = model_[value];
    if (facts.kind == ir::ValueKind::initializer) return model_[facts.constant].sparse == nullptr;
    return is_constant_[value.index];
  }

  bool is_foldable(ir::NodeId node) {
    if (model_[node].results.empty()) return false;
    for (const ir::Use& use : model_[node].operands) {
      if (use.value.valid() && !is_constant(use.value)) return false;
    }
    const std::vector<ir::GraphId> bodies = model_.bodies(model_[node]);
    if (!bodies.empty() && !captures_constants(bodies)) return false;
    if (has_reference(node, bodies)) return false;
    const std::string_view reason = why_not(node);
    if (!reason.empty() && reason != kUnknown) run_.skip(node, std::string(reason));
    return reason.empty();
  }

  // True if bodies read nothing but constants and their own results.
  bool captures_constants(const std::vector<ir::GraphId>& bodies) const {
    const std::vector<ir::GraphId> below = with_inner(bodies);
    const std::set<ir::GraphId> inside(below.begin(), below.end());
    const auto is_fine = [&](ir::NodeId node) {
      return std::ranges::all_of(model_[node].operands, [&](const ir::Use& use) {
        return !use.value.valid() || inside.contains(model_[use.value].graph) || is_constant(use.value);
      });
    };
    for (const ir::GraphId graph : below) {
      for (const ir::NodeId node : ir::nodes(model_, graph)) {
        if (!is_fine(node)) return false;
      }
      if (!is_fine(model_[graph].outputs_node)) return false;
    }
    return true;
  }

  // An attribute that is only known where the function is called.
  bool has_reference(ir::NodeId node, const std::vector<ir::GraphId>& bodies) const {
    const auto refers = [&](ir::NodeId id) {
      return std::ranges::any_of(model_[id].attributes, &ir::Attribute::is_reference);
    };
    if (refers(node)) return true;
    for (const ir::GraphId graph : with_inner(bodies)) {
      for (const ir::NodeId inner : ir::nodes(model_, graph)) {
        if (refers(inner)) return true;
      }
    }
    return false;
  }

  std::vector<ir::GraphId> with_inner(std::vector<ir::GraphId> graphs) const {
    for (size_t i = 0; i < graphs.size(); ++i) {
      for (const ir::NodeId node : ir::nodes(model_, graphs[i])) {
        const std::vector<ir::GraphId> bodies = model_.bodies(model_[node]);
        graphs.insert(graphs.end(), bodies.begin(), bodies.end());
      }
    }
    return graphs;
  }

  // Empty: nothing is against folding the node, bodies included.
  std::string_view why_not(ir::NodeId node) {
    const ops::Callee callee = run_.callee(node);
    if (!callee.function && !callee.op) return kUnknown;
    if (callee.function) return why_not(callee.function->body);
    // Folding would undo what quantisation is there for: the precision that a backend is to compute in.
    const bool quantises = quantises_ && callee.op->traits.encodes();
    if (callee.op->traits.is(ops::Nature::quantization) && !quantises) return "quantisation is kept";
    if (callee.op->is_random || (callee.schema && !callee.schema->deterministic)) return "its result is random";
    for (const ir::GraphId body : model_.bodies(model_[node])) {
      if (const std::string_view reason = why_not(body); !reason.empty()) return reason;
    }
    return {};
  }

  // Functions may call themselves, though they must not: then nothing is known of them.
  std::string_view why_not(ir::GraphId graph) {
    const auto [entry, is_new] = of_graph_.try_emplace(graph, kUnknown);
    if (!is_new) return entry->second;
    for (const ir::NodeId node : ir::nodes(model_, graph)) {
      if (const std::string_view reason = why_not(node); !reason.empty()) return of_graph_[graph] = reason;
    }
    return of_graph_[graph] = {};
  }

  static constexpr std::string_view kUnknown = "unknown";

  PassRun& run_;
  const ir::Model& model_;
  const bool quantises_ = run_.options().get<FoldOptions>().quantises;
  std::vector<bool> is_constant_;  // by value: result of a node that was found
  std::vector<ir::NodeId> found_;
  std::map<ir::GraphId, std::string_view> of_graph_;
};

}  // namespace

std::vector<ir::NodeId> foldable_nodes(PassRun& run) { return Search(run).run(); }

}  // namespace assay::passes
