#include "surgery/insert.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/constants.h"
#include "ir/edit.h"
#include "ir/naming.h"
#include "ir/verify.h"
#include "schema/imports.h"
#include "schema/schema.h"
#include "surgery/dead.h"
#include "surgery/names.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::Symbol;
using ir::ValueId;

class Inserter {
 public:
  Inserter(ir::Model& model, const Insertion& insertion, Diagnostics& findings)
      : model_(model), edit_(model), insertion_(insertion), findings_(findings) {}

  NodeId run() {
    add_constants();
    find_values();
    import_domain();
    collect_consumers();
    make_room();
    const NodeId node = add_node();
    for (size_t i = 0; i < outputs_.size(); ++i) take_over(outputs_[i], model_[node].results[i]);
    remove_dead(model_);
    if (!model_[node].alive) fail(ErrorCode::usage, "no output of the graph depends on the new node");
    return node;
  }

 private:
  void add_constants() {
    for (const NamedConstant& constant : insertion_.constants) {
      const std::string text = printable(constant.name);
      if (model_.symbols().find(constant.name)) {
        fail(ErrorCode::usage, "the constant `{}` has a name that the model already uses", text);
      }
      if (std::ranges::find(insertion_.inputs, constant.name) == insertion_.inputs.end()) {
        fail(ErrorCode::usage, "the node does not read the constant `{}`: name it among its inputs", text);
      }
      ir::add_initializer(edit_, {model_.main_graph(), edit_.intern(constant.name), constant.tensor});
    }
  }

  void find_values() {
    const NamedValues named(model_);
    for (const std::string& name : insertion_.inputs) inputs_.push_back(name.empty() ? ValueId{} : named[name]);
    for (const std::string& name : insertion_.outputs) {
      const ValueId value = named[name];
      const std::string text = printable(name);
      if (std::ranges::find(outputs_, value) != outputs_.end()) fail(ErrorCode::usage, "`{}` is named twice", text);
      if (model_[value].kind == ir::ValueKind::input && !is_input(value)) {
        throw Error(
            ErrorCode::usage,
            fmt::format("`{}` is an input of the graph, so no node can define it; add it to the inputs too", text))
            .remedied_by("inputs");
      }
      outputs_.push_back(value);
    }
  }

  bool is_input(ValueId value) const { return std::ranges::find(inputs_, value) != inputs_.end(); }

  bool is_graph_output(ValueId value) const {
    return std::ranges::any_of(model_.outputs(model_.main_graph()),
                               [&](const ir::Use& use) { return use.value == value; });
  }

  void import_domain() {
    const std::string_view domain = schema::canonical_domain(insertion_.domain);
    schema::import_domain(model_, domain);
    const bool is_own = std::ranges::any_of(model_.functions(), [&](const ir::Function& function) {
      return model_.text(function.domain) == insertion_.domain && model_.text(function.name) == insertion_.op;
    });
    is_known_ = is_own || schema::is_known_operator(domain, insertion_.op);
    if (is_known_ || !schema::newest_version(domain)) return;
    findings_.warn("insert", insertion_.op,
                   fmt::format("ONNX has no operator `{}`{}", printable(insertion_.op),
                               domain.empty() ? "" : fmt::format(" in the domain `{}`", domain)));
  }

  // The nodes of the main graph whose operands will be those of the new node.
  void collect_consumers() {
    for (const ValueId output : outputs_) {
      for (const ir::Use& use : ir::uses(model_, output)) {
        const NodeId user = model_.ancestor_in(use.user, model_.main_graph());
        if (user && !model_[user].is_outputs) consumers_.push_back(user);
      }
    }
  }

  // Finds the place: behind everything that the node needs. What depends on the node and stands before that place moves
  // behind it, in the same order.
  void make_room() {
    for (const ValueId input : inputs_) {
      const NodeId producer = input ? model_[input].producer : NodeId{};
      if (producer && (!last_producer_ || model_.is_before(last_producer_, producer))) last_producer_ = producer;
    }
    if (!last_producer_) return;
    for (const NodeId node : dependents_before(last_producer_)) {
      edit_.move_before(node, moved_end_ ? model_[moved_end_].next : model_[last_producer_].next);
      if (!moved_end_) moved_begin_ = node;
      moved_end_ = node;
    }
  }

  // The nodes that depend on the consumers and do not stand behind `last`, in order.
  std::vector<NodeId> dependents_before(NodeId last) {
    std::vector<bool> seen(model_.node_slots());
    std::vector<NodeId> found;
    std::vector<NodeId> pending = consumers_;
    while (!pending.empty()) {
      const NodeId node = pending.back();
      pending.pop_back();
      if (seen[node.index] || (node != last && !model_.is_before(node, last))) continue;
      seen[node.index] = true;
      check_no_input_from(node);
      found.push_back(node);
      for_each_user(node, [&](NodeId user) { pending.push_back(user); });
    }
    std::ranges::sort(found, [&](NodeId a, NodeId b) { return model_.is_before(a, b); });
    return found;
  }

  template <typename Fn>
  void for_each_user(NodeId node, Fn&& fn) const {
    for (const ValueId result : model_[node].results) {
      if (!result) continue;
      for (const ir::Use& use : ir::uses(model_, result)) {
        const NodeId user = model_.ancestor_in(use.user, model_.main_graph());
        if (user && !model_[user].is_outputs) fn(user);
      }
    }
  }

  void check_no_input_from(NodeId node) const {
    for (const ValueId input : inputs_) {
      if (!input || model_[input].producer != node) continue;
      fail(ErrorCode::usage, "the node would be part of a cycle: its input `{}` depends on its output",
           printable(model_.text(model_[input].name)));
    }
  }

  NodeId add_node() {
    std::vector<Symbol> results;
    for (const ValueId output : outputs_) results.push_back(free_name(output));
    std::vector<ir::Attribute> attributes;
    for (const NamedAttribute& item : insertion_.attributes) attributes.push_back(attribute_of(model_, item));
    ir::NodeSpec spec;
    spec.op = edit_.intern(insertion_.op);
    spec.domain = edit_.intern(insertion_.domain);
    spec.name = edit_.keep(insertion_.name);
    spec.operands = inputs_;
    spec.results = results;
    spec.attributes = attributes;
    const NodeId before = moved_begin_     ? moved_begin_
                          : last_producer_ ? model_[last_producer_].next
                                           : model_[model_.main_graph()].first;
    return edit_.add_node(model_.main_graph(), spec, before);
  }

  // The name of the new value; the old one is renamed where both would have the same.
  Symbol free_name(ValueId old) {
    const Symbol name = model_[old].name;
    const std::string suffixed = std::string(model_.text(name)) + std::string(kInsertedSuffix);
    const Symbol other = ir::fresh_name(edit_, suffixed);
    if (is_input(old) && (!is_graph_output(old) || model_[old].kind == ir::ValueKind::input)) return other;
    edit_.rename(old, other);
    return name;
  }

  // All uses of the old value but those by the new node. Its type goes over without the shape, which the node decides;
  // of a node that nobody knows an output of the graph keeps the shape, as it must have one.
  void take_over(ValueId old, ValueId result) {
    const NodeId node = model_[result].producer;
    if (const ir::TypeId type = model_[old].type) {
      const bool is_open = model_[type].kind == ir::TypeKind::tensor && (is_known_ || !is_graph_output(old));
      edit_.set_type(result, is_open ? model_.types().unranked_tensor(model_[type].dtype) : type);
    }
    std::vector<const ir::Use*> moved;
    for (const ir::Use& use : ir::uses(model_, old)) {
      if (use.user != node) moved.push_back(&use);
    }
    for (const ir::Use* use : moved) edit_.set_operand(use->user, use->index, result);
  }

  ir::Model& model_;
  ir::Edit edit_;
  const Insertion& insertion_;
  Diagnostics& findings_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  bool is_known_ = false;  // the operator
  std::vector<NodeId> consumers_;
  NodeId last_producer_;
  NodeId moved_begin_;  // the nodes that moved behind the new one
  NodeId moved_end_;
};

}  // namespace

NodeId insert(ir::Model& model, const Insertion& insertion, Diagnostics& findings) {
  return Inserter(model, insertion, findings).run();
}

}  // namespace assay::surgery
