#include "scene/own_functions.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "ir/clone.h"
#include "ir/edit.h"
#include "ir/walk.h"

namespace assay::scene {
namespace {

constexpr size_t kMostAdded = 100'000;  // nodes of copies

class CallSplitter {
 public:
  explicit CallSplitter(ir::Model& model) : model_(model), edit_(model) {}
  void run();

 private:
  void find_functions();
  std::vector<ir::NodeId> nodes_within(ir::GraphId graph) const;
  std::vector<size_t> callers_first() const;
  std::vector<ir::NodeId> calls_of(size_t function) const;
  size_t function_of(ir::NodeId node) const;  // the number of functions: none
  bool split(size_t function, const std::vector<ir::NodeId>& calls);
  ir::GraphId copy_body(ir::GraphId body, ir::NodeId call);
  void call_instead(ir::NodeId call, ir::Symbol overload);
  std::string prefix_of(ir::NodeId call);

  ir::Model& model_;
  ir::Edit edit_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, size_t> numbers_;  // by domain, name and overload
  std::vector<std::vector<ir::NodeId>> calls_;                          // by function
  std::unordered_set<ir::NodeId> gone_;                                 // within functions that gave way to copies
  std::unordered_map<std::string, uint32_t> prefixes_;
  size_t added_ = 0;
};

size_t CallSplitter::function_of(ir::NodeId id) const {
  const ir::Node& node = model_[id];
  const auto found = numbers_.find({node.domain.index, node.op.index, node.overload.index});
  return found == numbers_.end() ? numbers_.size() : found->second;
}

void CallSplitter::find_functions() {
  const std::vector<ir::Function>& functions = model_.functions();
  for (const ir::Function& function : functions) {
    numbers_.emplace(std::tuple(function.domain.index, function.name.index, function.overload.index), numbers_.size());
  }
  calls_.resize(functions.size());
  for (const ir::NodeId node : ir::live_nodes(model_)) {
    if (const size_t function = function_of(node); function < numbers_.size()) calls_[function].push_back(node);
  }
}

// Nodes of bodies too.
std::vector<ir::NodeId> CallSplitter::nodes_within(ir::GraphId graph) const {
  std::vector<ir::NodeId> found;
  std::vector<ir::GraphId> pending = {graph};
  while (!pending.empty()) {
    const ir::GraphId at = pending.back();
    pending.pop_back();
    for (const ir::NodeId node : ir::nodes(model_, at)) {
      found.push_back(node);
      for (const ir::GraphId inner : model_.bodies(model_[node])) pending.push_back(inner);
    }
  }
  return found;
}

// The functions in an order in which each stands behind those that call it, without those that call themselves and
// what these call.
std::vector<size_t> CallSplitter::callers_first() const {
  std::vector<std::vector<size_t>> callees(numbers_.size());
  std::vector<size_t> waiting(numbers_.size(), 0);  // calls from functions that have no place yet
  for (size_t i = 0; i < callees.size(); ++i) {
    for (const ir::NodeId node : nodes_within(model_.functions()[i].body)) {
      const size_t callee = function_of(node);
      if (callee == callees.size()) continue;
      callees[i].push_back(callee);
      ++waiting[callee];
    }
  }
  std::vector<size_t> order;
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] == 0) order.push_back(i);
  }
  for (size_t at = 0; at < order.size(); ++at) {
    for (const size_t callee : callees[order[at]]) {
      if (--waiting[callee] == 0) order.push_back(callee);
    }
  }
  return order;
}

std::vector<ir::NodeId> CallSplitter::calls_of(size_t function) const {
  std::vector<ir::NodeId> calls;
  for (const ir::NodeId call : calls_[function]) {
    if (!gone_.contains(call)) calls.push_back(call);
  }
  return calls;
}

std::string CallSplitter::prefix_of(ir::NodeId call) {
  const std::string prefix(ir::known_name(model_, call));
  const uint32_t uses = prefixes_[prefix]++;
  return uses == 0 ? prefix : fmt::format("{}_{}", prefix, uses);
}

// The nodes are copied before one that stands there for the time being.
ir::GraphId CallSplitter::copy_body(ir::GraphId body, ir::NodeId call) {
  const ir::GraphId made = edit_.add_graph(model_[body].name);
  const ir::NodeId place = edit_.add_node(made, {.op = model_[call].op});
  const ir::ClonePlan plan = {.before = place, .prefix = prefix_of(call)};
  ir::Cloner cloner(model_, edit_, plan);
  for (const ir::ValueId input : std::vector<ir::ValueId>(model_[body].inputs)) {
    const ir::Symbol name = cloner.fresh_name(model_.text(model_[input].name));
    cloner.map(input, edit_.add_input(made, name, model_[input].type));
  }
  cloner.copy_contents(body);
  edit_.erase(place);
  std::vector<ir::ValueId> outputs;
  for (const ir::Use& use : model_.outputs(body)) outputs.push_back(cloner.mapped(use.value));
  edit_.set_outputs(made, outputs);
  return made;
}

// A node in the place of the call, with its name and those of its results.
void CallSplitter::call_instead(ir::NodeId call, ir::Symbol overload) {
  const ir::Node& node = model_[call];
  std::vector<ir::ValueId> operands;
  for (const ir::Use& use : node.operands) operands.push_back(use.value);
  const std::vector<ir::ValueId> results(node.results.begin(), node.results.end());
  const std::vector<ir::Attribute> attributes(node.attributes.begin(), node.attributes.end());
  std::vector<ir::Symbol> names;
  std::vector<ir::Symbol> fresh;
  for (const ir::ValueId result : results) {
    names.push_back(result ? model_[result].name : ir::kEmpty);
    fresh.push_back(result ? edit_.intern(fmt::format("result of {}.{}", call.index, fresh.size())) : ir::kEmpty);
  }
  const ir::NodeId made = edit_.add_node(node.graph,
                                         {.op = node.op,
                                          .domain = node.domain,
                                          .name = node.name,
                                          .overload = overload,
                                          .operands = operands,
                                          .results = fresh,
                                          .attributes = attributes,
                                          .source = node.source},
                                         call);
  edit_.origins().merge(made, {call});
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) continue;
    edit_.set_type(model_[made].results[i], model_[results[i]].type);
    edit_.replace_uses(results[i], model_[made].results[i]);
  }
  edit_.erase(call);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i]) edit_.rename(model_[made].results[i], names[i]);
  }
}

// True if none of the calls is left with the function itself.
bool CallSplitter::split(size_t number, const std::vector<ir::NodeId>& calls) {
  const size_t count = nodes_within(model_.functions()[number].body).size();
  for (const ir::NodeId call : calls) {
    if (added_ + count > kMostAdded || !model_.bodies(model_[call]).empty()) return false;
    added_ += count + 1;
    ir::Function copy = model_.functions()[number];
    copy.body = copy_body(copy.body, call);
    copy.overload = edit_.intern(fmt::format("{}:{}", model_.text(copy.overload), added_));
    for (const ir::NodeId node : nodes_within(copy.body)) {
      if (const size_t callee = function_of(node); callee < numbers_.size()) calls_[callee].push_back(node);
    }
    const ir::Symbol overload = copy.overload;
    edit_.add_function(std::move(copy));
    call_instead(call, overload);
  }
  return true;
}

void CallSplitter::run() {
  if (model_.functions().empty()) return;
  find_functions();
  if (numbers_.size() != model_.functions().size()) return;  // two of one name
  std::vector<size_t> done;
  for (const size_t function : callers_first()) {
    const std::vector<ir::NodeId> calls = calls_of(function);
    if (calls.size() < 2 || !split(function, calls)) continue;
    done.push_back(function);
    for (const ir::NodeId node : nodes_within(model_.functions()[function].body)) gone_.insert(node);
  }
  std::ranges::sort(done);
  edit_.erase_functions(done);
}

}  // namespace

void give_calls_their_functions(ir::Model& model) { CallSplitter(model).run(); }

}  // namespace assay::scene
