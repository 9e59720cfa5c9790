#include "scene/own_functions.h"

#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

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
  void find_calls();
  std::set<size_t> callees(ir::GraphId body) const;
  bool is_recursive(size_t function) const;
  size_t function_of(const ir::Node& node) const;  // the number of functions: none
  bool split(size_t function);
  ir::GraphId copy_body(ir::GraphId body, ir::NodeId call);
  void call_instead(ir::NodeId call, ir::Symbol overload);
  std::string prefix_of(ir::NodeId call);

  ir::Model& model_;
  ir::Edit edit_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, size_t> numbers_;  // by domain, name and overload
  std::vector<std::vector<ir::NodeId>> calls_;                          // by function
  std::unordered_map<std::string, uint32_t> prefixes_;
  size_t added_ = 0;
};

size_t CallSplitter::function_of(const ir::Node& node) const {
  const auto found = numbers_.find({node.domain.index, node.op.index, node.overload.index});
  return found == numbers_.end() ? numbers_.size() : found->second;
}

void CallSplitter::find_calls() {
  const std::vector<ir::Function>& functions = model_.functions();
  numbers_.clear();
  for (size_t i = 0; i < functions.size(); ++i) {
    numbers_.emplace(std::tuple(functions[i].domain.index, functions[i].name.index, functions[i].overload.index), i);
  }
  calls_.assign(functions.size(), {});
  for (const ir::NodeId node : ir::live_nodes(model_)) {
    if (const size_t function = function_of(model_[node]); function < calls_.size()) calls_[function].push_back(node);
  }
}

std::set<size_t> CallSplitter::callees(ir::GraphId body) const {
  std::set<size_t> found;
  std::vector<ir::GraphId> pending = {body};
  while (!pending.empty()) {
    const ir::GraphId graph = pending.back();
    pending.pop_back();
    for (const ir::NodeId node : ir::nodes(model_, graph)) {
      if (const size_t function = function_of(model_[node]); function < calls_.size()) found.insert(function);
      for (const ir::GraphId inner : model_.bodies(model_[node])) pending.push_back(inner);
    }
  }
  return found;
}

bool CallSplitter::is_recursive(size_t function) const {
  std::set<size_t> seen;
  std::vector<size_t> pending = {function};
  while (!pending.empty()) {
    const size_t at = pending.back();
    pending.pop_back();
    for (const size_t callee : callees(model_.functions()[at].body)) {
      if (callee == function) return true;
      if (seen.insert(callee).second) pending.push_back(callee);
    }
  }
  return false;
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
bool CallSplitter::split(size_t number) {
  const size_t count = model_[model_.functions()[number].body].node_count;
  for (const ir::NodeId call : calls_[number]) {
    if (added_ + count > kMostAdded || !model_.bodies(model_[call]).empty()) return false;
    added_ += count + 1;
    ir::Function copy = model_.functions()[number];
    copy.body = copy_body(copy.body, call);
    copy.overload = edit_.intern(fmt::format("{}:{}", model_.text(copy.overload), added_));
    const ir::Symbol overload = copy.overload;
    edit_.add_function(std::move(copy));
    call_instead(call, overload);
  }
  return true;
}

void CallSplitter::run() {
  for (bool is_changed = !model_.functions().empty(); is_changed;) {
    is_changed = false;
    find_calls();
    std::vector<size_t> done;
    for (size_t i = 0; i < calls_.size() && !is_changed; ++i) {
      if (calls_[i].size() < 2 || is_recursive(i) || !split(i)) continue;
      done.push_back(i);
      is_changed = true;
    }
    edit_.erase_functions(done);
  }
}

}  // namespace

void give_calls_their_functions(ir::Model& model) { CallSplitter(model).run(); }

}  // namespace assay::scene
