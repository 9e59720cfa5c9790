#include "inspect/compatibility.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/edit.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "ops/write_types.h"

namespace assay::inspect {
namespace {

constexpr int kMostRounds = 100;

size_t count_live(const ir::Model& model) {
  size_t count = 0;
  for (const ir::NodeId node : ir::live_nodes(model)) count += node.valid();
  return count;
}

// The places of nodes of any depth in the main graph.
class Places {
 public:
  explicit Places(const ir::Model& model) : model_(model) {
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) numbers_.emplace(node, numbers_.size());
    for (const ir::Function& function : model.functions()) functions_.emplace(function.body, &function);
  }

  std::vector<size_t> of(ir::NodeId node) const {
    std::set<size_t> places;
    std::set<ir::GraphId> seen;
    add(node, places, seen);
    return {places.begin(), places.end()};
  }

 private:
  void add(ir::NodeId node, std::set<size_t>& places, std::set<ir::GraphId>& seen) const {
    const ir::NodeId around = model_.ancestor_in(node, model_.main_graph());
    if (around.valid()) {
      places.insert(numbers_.at(around));
      return;
    }
    for (const auto& [body, function] : functions_) {
      if (!model_.ancestor_in(node, body).valid() || !seen.insert(body).second) continue;
      for (const ir::NodeId caller : ir::live_nodes(model_)) {
        const bool calls = model_[caller].op == function->name && model_[caller].domain == function->domain;
        if (calls) add(caller, places, seen);
      }
    }
  }

  const ir::Model& model_;
  std::map<ir::NodeId, size_t> numbers_;
  std::map<ir::GraphId, const ir::Function*> functions_;
};

// A copy of the model from which refused nodes are taken out; graph inputs of their types stand in for what they give.
class Rest {
 public:
  explicit Rest(const ir::Model& model) : model_(model.copy()), edit_(model_) {
    ops::Inference inference(model_);
    inference.run();
    ops::write_types(inference, model_);
    name_nodes();
  }

  const ir::Model& model() const { return model_; }
  bool is_alive(ir::NodeId node) const { return model_[node].alive; }

  // True for nodes of the main graph or one of its bodies: only there can inputs of the model be seen.
  bool can_take_out(ir::NodeId node) const { return model_.ancestor_in(node, model_.main_graph()).valid(); }

  void take_out(const std::vector<ir::NodeId>& refused) {
    for (const ir::NodeId node : refused) {
      ++taken_count_;
      if (!is_alive(node)) continue;
      replace_results(node);
      if (is_alive(node)) edit_.erase(node);
    }
    choose_outputs();
  }

  bool is_empty() const {
    return model_[model_.main_graph()].node_count == 0 || model_.outputs(model_.main_graph()).empty();
  }
  // The number of nodes that were there and are neither left nor were taken out by name.
  size_t lost_count(size_t node_count) const { return node_count - count_live(model_) - taken_count_; }

  // The message with the names that nodes got here as the user knows them.
  std::string in_users_words(std::string text, const ir::Model& original) const {
    for (const auto& [name, node] : given_names_) {
      const size_t at = text.find(name);
      if (at != std::string::npos) text.replace(at, name.size(), ir::describe(original, node));
    }
    return text;
  }

 private:
  // So that a message names one node only.
  void name_nodes() {
    std::set<std::string_view> seen;
    for (const ir::NodeId id : ir::live_nodes(model_)) {
      if (!model_[id].name.empty() && seen.insert(model_[id].name).second) continue;
      given_names_.emplace_back(fmt::format("assay_node_{}_", id.index), id);
      edit_.rename(id, edit_.keep(given_names_.back().first));
    }
  }

  bool has_type(ir::ValueId value) const {
    const ir::TypeId type = model_[value].type;
    return type.valid() &&
           (model_[type].kind != ir::TypeKind::tensor || model_[type].dtype != tensor::DType::undefined);
  }

  void replace_results(ir::NodeId node) {
    const std::vector<ir::ValueId> results(model_[node].results.begin(), model_[node].results.end());
    for (const ir::ValueId result : results) {
      if (!result.valid() || model_[result].first_use == nullptr) continue;
      if (has_type(result)) {
        const ir::Symbol name = edit_.intern(fmt::format("assay_input_{}", result.index));
        edit_.replace_uses(result, edit_.add_input(model_.main_graph(), name, model_[result].type));
      } else {
        drop_users(result);
      }
    }
  }

  // Without a type there can be no input: all that depends on the value goes too, whole nodes of the main graph at a
  // time.
  void drop_users(ir::ValueId unknown) {
    const ir::GraphId main = model_.main_graph();
    std::set<ir::ValueId> lost = {unknown};
    std::set<ir::NodeId> doomed;
    std::vector<ir::ValueId> open = {unknown};
    while (!open.empty()) {
      const ir::ValueId value = open.back();
      open.pop_back();
      for (const ir::Use& use : ir::uses(model_, value)) {
        const ir::NodeId user = model_.ancestor_in(use.user, main);
        if (model_[user].is_outputs || !doomed.insert(user).second) continue;
        for (const ir::ValueId result : model_[user].results) {
          if (result.valid() && lost.insert(result).second) open.push_back(result);
        }
      }
    }
    std::vector<ir::ValueId> outputs;
    for (const ir::Use& use : model_.outputs(main)) {
      if (!lost.contains(use.value)) outputs.push_back(use.value);
    }
    edit_.set_outputs(main, outputs);
    std::vector<ir::NodeId> order;
    for (const ir::NodeId node : ir::nodes(model_, main)) order.push_back(node);
    for (const ir::NodeId node : std::views::reverse(order)) {
      if (doomed.contains(node)) edit_.erase(node);
    }
  }

  // Whatever nothing else uses, so that a library has no reason to leave nodes out.
  void choose_outputs() {
    const ir::GraphId main = model_.main_graph();
    const auto is_by_output = [&](const ir::Use& use) {
      return model_[use.user].is_outputs && model_[use.user].graph == main;
    };
    std::vector<ir::ValueId> outputs;
    for (const ir::NodeId node : ir::nodes(model_, main)) {
      for (const ir::ValueId result : model_[node].results) {
        if (!result.valid() || !has_type(result)) continue;
        bool is_needed = false;
        for (const ir::Use& use : ir::uses(model_, result)) is_needed = is_needed || !is_by_output(use);
        if (!is_needed) outputs.push_back(result);
      }
    }
    edit_.set_outputs(main, outputs);
  }

  ir::Model model_;
  ir::Edit edit_;
  std::vector<std::pair<std::string, ir::NodeId>> given_names_;
  size_t taken_count_ = 0;
};

class Trial {
 public:
  Trial(const ir::Model& model, const exec::Backend& backend, const exec::LibrarySearch& search,
        results::BackendCompatibility& result)
      : model_(model), backend_(backend), search_(search), result_(result) {}

  void run() {
    const std::vector<exec::Refusal> refusals = backend_.refusals(model_, search_);
    if (refusals.empty()) return;
    const std::variant<std::monostate, Error> tried = attempt([&] {
      try_rest();
      return std::monostate();
    });
    if (std::holds_alternative<std::monostate>(tried) && !result_.accepts_all()) return;
    result_.refused.clear();
    take(refusals);
  }

 private:
  void try_rest() {
    Rest rest(model_);
    for (int round = 0; round < kMostRounds && !rest.is_empty(); ++round) {
      std::vector<exec::Refusal> refusals = backend_.refusals(rest.model(), search_);
      for (exec::Refusal& refusal : refusals) refusal.reason = rest.in_users_words(std::move(refusal.reason), model_);
      take(refusals);
      std::vector<ir::NodeId> nodes;
      for (const exec::Refusal& refusal : refusals) {
        if (refusal.node.valid() && rest.can_take_out(refusal.node)) nodes.push_back(refusal.node);
      }
      if (nodes.size() < refusals.size() || nodes.empty()) break;
      rest.take_out(nodes);
    }
    result_.untried_count = rest.lost_count(result_.node_count);
  }

  void take(const std::vector<exec::Refusal>& refusals) {
    const Places places(model_);
    for (const exec::Refusal& refusal : refusals) {
      if (!refusal.node.valid()) {
        result_.whole_refusal = refusal.reason;
        result_.whole_remedy = refusal.remedy;
        continue;
      }
      const std::string op(model_.text(model_[refusal.node].op));
      result_.refused.push_back(
          {ir::describe(model_, refusal.node), op, refusal.reason, refusal.remedy, places.of(refusal.node)});
    }
  }

  const ir::Model& model_;
  const exec::Backend& backend_;
  const exec::LibrarySearch& search_;
  results::BackendCompatibility& result_;
};

}  // namespace

results::BackendCompatibility inspect_compatibility(const ir::Model& model, const exec::Backend& backend,
                                                    const exec::LibrarySearch& search) {
  results::BackendCompatibility result;
  result.backend = backend.name();
  const exec::Probe probe = backend.probe(search);
  result.usable = probe.usable;
  result.version = probe.version;
  result.node_count = count_live(model);
  if (probe.usable) Trial(model, backend, search, result).run();
  return result;
}

}  // namespace assay::inspect
