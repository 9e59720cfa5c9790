// Before: a call of a function of the model.
// After:  the nodes of the function, named `<call>_<name>`, its attributes bound to the call's or to their defaults;
//         functions that nothing calls any more are gone.
// Only if: every operator means the same in the versions of the function and of the model, the function does not call
//         itself, and what all calls become stays within a limit.
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "passes/splice.h"
#include "schema/imports.h"

namespace assay::passes {
namespace {

using ir::GraphId;
using ir::NodeId;

constexpr uint64_t kUncountable = uint64_t{1} << 62;

// That all calls may become.
uint64_t most_nodes(const ir::Model& model) { return 200'000 + 20 * uint64_t{model.node_slots()}; }

// The nodes of a graph and of all bodies below it.
std::vector<NodeId> all_nodes(const ir::Model& model, GraphId graph) {
  std::vector<NodeId> found;
  std::vector<GraphId> pending = {graph};
  while (!pending.empty()) {
    const GraphId current = pending.back();
    pending.pop_back();
    for (const NodeId node : ir::nodes(model, current)) {
      found.push_back(node);
      const std::vector<GraphId> bodies = model.bodies(model[node]);
      pending.insert(pending.end(), bodies.begin(), bodies.end());
    }
  }
  return found;
}

// The size of a function when it and all that it calls are inlined.
struct Size {
  uint64_t nodes = 0;
  bool is_recursive = false;
};

class Inliner {
 public:
  explicit Inliner(PassRun& run) : run_(run), splicer_(run), most_nodes_(most_nodes(run.model())) {}
  void run();

 private:
  using Function = const ir::Function*;
  struct Frame {
    Function function;
    std::vector<Function> callees;
  };

  void measure(Function function);
  std::vector<Function> callees(GraphId body);
  NodeId inline_at(NodeId node);
  std::string refusal(NodeId call, const ir::Function& function);
  std::string version_refusal(const ir::Function& function);
  void import_versions(const ir::Function& function);
  void erase_uncalled();

  PassRun& run_;
  Splicer splicer_;
  std::map<Function, Size> sizes_;
  std::map<Function, std::string> version_refusals_;
  const uint64_t most_nodes_;
  uint64_t grown_ = 0;
};

std::vector<Inliner::Function> Inliner::callees(GraphId body) {
  std::vector<Function> found;
  for (const NodeId node : all_nodes(run_.model(), body)) {
    if (const Function function = run_.callee(node).function) found.push_back(function);
  }
  return found;
}

// Depth first; a function that is met below itself, and all that reach it, are recursive.
void Inliner::measure(Function root) {
  if (sizes_.contains(root)) return;
  std::set<Function> open = {root};
  std::vector<Frame> stack = {{root, callees(root->body)}};
  std::map<Function, Size> partial;
  partial[root].nodes = all_nodes(run_.model(), root->body).size();
  while (!stack.empty()) {
    Frame& frame = stack.back();
    Size& own = partial[frame.function];
    if (frame.callees.empty()) {
      sizes_[frame.function] = own;
      open.erase(frame.function);
      stack.pop_back();
      continue;
    }
    const Function callee = frame.callees.back();
    if (open.contains(callee)) {
      own.is_recursive = true;
      frame.callees.pop_back();
    } else if (const auto known = sizes_.find(callee); known != sizes_.end()) {
      own.nodes = std::min(kUncountable, own.nodes + known->second.nodes);
      own.is_recursive = own.is_recursive || known->second.is_recursive;
      frame.callees.pop_back();
    } else {
      open.insert(callee);
      partial[callee].nodes = all_nodes(run_.model(), callee->body).size();
      stack.push_back({callee, callees(callee->body)});
    }
  }
}

std::string Inliner::version_refusal(const ir::Function& function) {
  const ir::Model& model = run_.model();
  for (const NodeId node : all_nodes(model, function.body)) {
    const ops::Callee callee = run_.callee(node);
    const std::string_view domain = schema::canonical_domain(model.text(model[node].domain));
    const int64_t version = schema::imported_version(run_.model(), domain);
    if (callee.function || version == 0 || version == callee.version) continue;
    const std::string_view op = model.text(model[node].op);
    if (callee.schema && callee.schema == schema::find_schema(domain, op, version)) continue;
    return fmt::format("{} means another thing in version {} of its domain than in version {} of the model",
                       printable(op), callee.version, version);
  }
  return {};
}

std::string Inliner::refusal(NodeId call, const ir::Function& function) {
  measure(&function);
  const Size& size = sizes_.at(&function);
  if (size.is_recursive) return "the function calls itself";
  if (grown_ + size.nodes > most_nodes_) {
    return fmt::format("it expands to {}{} nodes, {} of {} are left", size.nodes < kUncountable ? "" : "more than ",
                       size.nodes, most_nodes_ - std::min(grown_, most_nodes_), most_nodes_);
  }
  const auto [versions, is_new] = version_refusals_.try_emplace(&function);
  if (is_new) versions->second = version_refusal(function);
  if (!versions->second.empty()) return versions->second;
  return splicer_.refusal({.node = call, .contents = function.body});
}

void Inliner::import_versions(const ir::Function& function) {
  for (const ir::OpsetImport& import : function.opset_imports) {
    const std::string_view domain = schema::canonical_domain(run_.model().text(import.domain));
    if (schema::imported_version(run_.model(), domain) != 0) continue;
    run_.edit().header().opset_imports.push_back(import);
    version_refusals_.clear();
  }
}

// The node to go on with: calls among the nodes that come are inlined too.
NodeId Inliner::inline_at(NodeId node) {
  const ir::Model& model = run_.model();
  const NodeId next = model[node].next;
  const Function function = run_.callee(node).function;
  if (!function || run_.rewriter().is_done()) return next;
  const std::string reason = refusal(node, *function);
  if (!reason.empty()) {
    run_.skip(node, fmt::format("the function `{}` stays: {}", printable(model.text(function->name)), reason));
    return next;
  }
  import_versions(*function);
  grown_ += all_nodes(model, function->body).size();
  const ops::AttributeScope scope = ops::call_scope(*function, run_.facts(node));
  return splicer_.splice({node, function->body, &scope, true}, "inline a function");
}

void Inliner::erase_uncalled() {
  std::set<Function> called;
  std::vector<GraphId> pending = {run_.model().main_graph()};
  while (!pending.empty()) {
    const GraphId graph = pending.back();
    pending.pop_back();
    for (const Function function : callees(graph)) {
      if (called.insert(function).second) pending.push_back(function->body);
    }
  }
  const std::vector<ir::Function>& functions = run_.model().functions();
  std::vector<size_t> uncalled;
  std::string names;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (called.contains(&functions[i])) continue;
    uncalled.push_back(i);
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", printable(run_.model().text(functions[i].name)));
  }
  if (uncalled.empty()) return;
  if (!run_.rewriter().record(run_.edit().keep("remove functions that nothing calls: " + names))) return;
  run_.edit().erase_functions(uncalled);
  run_.forget_callees();
}

void Inliner::run() {
  const ir::Model& model = run_.model();
  if (model.functions().empty()) return;
  std::vector<GraphId> pending = {model.main_graph()};
  while (!pending.empty() && !run_.rewriter().is_done()) {
    const GraphId graph = pending.back();
    pending.pop_back();
    for (NodeId node = model[graph].first; node;) node = inline_at(node);
    for (const NodeId node : ir::nodes(model, graph)) {
      const std::vector<GraphId> bodies = model.bodies(model[node]);
      pending.insert(pending.end(), bodies.begin(), bodies.end());
    }
  }
  if (!run_.rewriter().is_done()) erase_uncalled();
}

void inline_functions(PassRun& run) { Inliner(run).run(); }

}  // namespace

Pass pass_structure_inline_functions() {
  return {.name = "inline-functions",
          .summary = "replace calls of the model's functions by their nodes",
          .run = inline_functions};
}

}  // namespace assay::passes
