#include <algorithm>
#include <limits>
#include <utility>

#include "ops/inference.h"

namespace assay::ops {
namespace {

bool are_same(const Dim& a, const Dim& b) { return a.is_unknown() ? b.is_unknown() : a.equals(b); }

bool are_same(const Type& a, const Type& b) {
  if (a.known != b.known || a.kind != b.kind || a.dtype != b.dtype || a.dims.has_value() != b.dims.has_value()) {
    return false;
  }
  if (a.element || b.element) {
    if (!a.element || !b.element || !are_same(*a.element, *b.element)) return false;
  }
  return !a.dims || std::ranges::equal(*a.dims, *b.dims, [](const Dim& x, const Dim& y) { return are_same(x, y); });
}

bool are_same(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  return a.dtype() == DType::string ? std::ranges::equal(a.strings(), b.strings())
                                    : std::ranges::equal(a.bytes(), b.bytes());
}

bool are_same(const Elements& a, const Elements& b) {
  return a.shape == b.shape &&
         std::ranges::equal(a.items, b.items, [](const Dim& x, const Dim& y) { return are_same(x, y); });
}

// A copy of a value's entries in the tables, in memory of its own.
struct Entry {
  Type type;
  std::shared_ptr<const Tensor> constant;
  std::optional<Elements> elements;
};

bool are_same(const Entry& a, const Entry& b) {
  const bool are_same_constants =
      a.constant && b.constant ? are_same(*a.constant, *b.constant) : a.constant == b.constant;
  const bool are_same_elements =
      a.elements && b.elements ? are_same(*a.elements, *b.elements) : a.elements.has_value() == b.elements.has_value();
  return are_same_constants && are_same_elements && are_same(a.type, b.type);
}

}  // namespace

// Nodes that are to be inferred, in the order of the model; those of a body before the node that has it, which is only
// looked at where the body's outputs become others.
class Inference::Worklist {
 public:
  explicit Worklist(const ir::Model& model) : model_(model) {}

  void push(ir::NodeId node) {
    if (model_[node].is_outputs) node = model_[model_[node].graph].parent;
    if (node) todo_.emplace(place_of(node), node);
  }
  void push_users(ir::ValueId value) {
    for (const ir::Use& use : ir::uses(model_, value)) push(use.user);
  }
  ir::NodeId pop() {
    if (todo_.empty()) return {};
    const ir::NodeId node = todo_.begin()->second;
    todo_.erase(todo_.begin());
    return node;
  }

 private:
  // The places of the node and those that it stands in, from the outside.
  std::vector<uint64_t> place_of(ir::NodeId node) const {
    std::vector<uint64_t> place = {std::numeric_limits<uint64_t>::max()};
    for (; node; node = model_[model_[node].graph].parent) place.push_back(model_[node].order);
    std::ranges::reverse(place.begin() + 1, place.end());
    std::ranges::rotate(place, place.begin() + 1);
    return place;
  }

  const ir::Model& model_;
  std::map<std::vector<uint64_t>, ir::NodeId> todo_;
};

bool Inference::can_renew(const ir::EditLog& edits) {
  if (edits.has_all) return false;
  const auto is_in_main = [this](ir::GraphId graph) { return model_.root(graph) == model_.main_graph(); };
  for (const ir::NodeId node : edits.nodes) {
    if (model_[node].alive && !is_in_main(model_[node].graph)) return false;
    if (!model_[node].alive && model_[node].graph != model_.main_graph()) return false;
  }
  for (const ir::ValueId value : edits.values) {
    if (model_[value].alive && !is_in_main(model_[value].graph)) return false;
  }
  // A name that the model has got since may be one that was made here.
  for (; model_dims_ < model_.dims().size(); ++model_dims_) {
    if (space_.has_fresh(space_.from_model(ir::DimId{model_dims_}))) return false;
  }
  return true;
}

bool Inference::renew(const ir::EditLog& edits) {
  if (!can_renew(edits)) return false;
  callees_.refresh();
  add_slots();
  set_limits();
  is_renewing_ = true;
  Worklist work(model_);
  for (const ir::NodeId node : edits.nodes) {
    if (!model_[node].alive) {
      forget(node);
      continue;
    }
    if (!model_[node].is_outputs) callees_.refresh(node);
    work.push(node);
  }
  for (const ir::ValueId value : edits.values) {
    if (model_[value].alive) renew_value(value, work);
  }
  while (const ir::NodeId node = work.pop()) renew_node(node, work);
  is_renewing_ = false;
  return true;
}

void Inference::renew_value(ir::ValueId value, Worklist& work) {
  const ir::Value& facts = model_[value];
  if (facts.producer) return work.push(facts.producer);
  if (facts.kind == ir::ValueKind::input && facts.graph == model_.main_graph()) infer_input(value);
  work.push_users(value);
  const ir::NodeId parent = model_[facts.graph].parent;
  if (parent && facts.kind == ir::ValueKind::input) work.push(parent);
}

void Inference::renew_node(ir::NodeId node, Worklist& work) {
  const ir::GraphId graph = model_[node].graph;
  if (graph != model_.main_graph() && !entered_.contains(graph)) return;
  const auto entry = [this](ir::ValueId value) {
    const auto folded = folded_.find(value);
    const Elements* known = elements(value);
    return Entry{types_[value], folded == folded_.end() ? nullptr : folded->second,
                 known ? std::optional(*known) : std::nullopt};
  };
  std::vector<Entry> before;
  for (const ir::ValueId value : model_[node].results) before.push_back(value ? entry(value) : Entry());
  const Dim macs = this->macs(node);
  forget_findings(node);
  macs_.erase(node);
  forget_bodies(node);
  infer_node(node);
  for (size_t i = 0; i < before.size(); ++i) {
    const ir::ValueId value = model_[node].results[i];
    if (value && !are_same(before[i], entry(value))) work.push_users(value);
  }
  const ir::NodeId parent = model_[graph].parent;
  if (parent && !are_same(macs, this->macs(node))) work.push(parent);
}

void Inference::forget(ir::NodeId node) {
  forget_findings(node);
  macs_.erase(node);
  for (const ir::ValueId value : model_[node].results) {
    if (!value) continue;
    replaced_.push_back(std::exchange(types_[value], {}));
    folded_.erase(value);
    elements_.erase(value);
  }
}

// Bodies that are entered again become known again.
void Inference::forget_bodies(ir::NodeId node) {
  for (const ir::GraphId body : model_.bodies(model_[node])) {
    entered_.erase(body);
    for (const ir::NodeId inner : ir::nodes(model_, body)) {
      forget(inner);
      forget_bodies(inner);
    }
  }
}

// Forgets the findings of a node and of its bodies.
void Inference::forget_findings(ir::NodeId node) {
  const ir::GraphId graph = model_[node].graph;
  const auto is_within = [&](ir::NodeId other) { return model_.ancestor_in(other, graph) == node; };
  if (findings_.empty()) return;
  std::erase_if(findings_, [&](const InferenceFinding& finding) { return is_within(finding.node); });
  std::erase_if(reported_, [&](const auto& known) { return is_within(known.first); });
}

}  // namespace assay::ops
