#include "surgery/plugin/replace.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/edit.h"
#include "ir/naming.h"
#include "ir/walk.h"
#include "schema/imports.h"
#include "surgery/insert.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::ValueId;

class Replacer {
 public:
  Replacer(ir::Model& model, const results::PluginMatches& plugin)
      : model_(model), edit_(model), plugin_(plugin), values_(model.symbols().size()) {
    for (const ValueId id : ir::live_values(model)) {
      const ir::Value& value = model[id];
      const bool is_named = value.graph == model.main_graph() && value.name != ir::kEmpty;
      if (is_named) values_[value.name.index] = id;
    }
  }

  Replacement run() {
    Replacement done;
    for (size_t i = 0; i < plugin_.instances.size(); ++i) {
      const std::string reason = try_replace(plugin_.instances[i]);
      if (reason.empty()) {
        ++done.replaced;
      } else {
        done.skipped.push_back(skipped_line(plugin_, i, reason));
      }
    }
    if (done.replaced > 0) schema::import_domain(model_, plugin_.domain);
    erase_unused();
    return done;
  }

 private:
  ValueId find(const std::string& name) const {
    const ir::Symbol symbol = model_.symbols().find(name);
    const bool is_known = symbol && symbol.index < values_.size() && values_[symbol.index];
    return is_known && model_[values_[symbol.index]].alive ? values_[symbol.index] : ValueId{};
  }

  // Replaces the instance. Returns the reason for leaving it; empty: it was replaced.
  std::string try_replace(const results::PluginInstance& instance) {
    inputs_.clear();
    outputs_.clear();
    inner_.clear();
    for (const std::string& name : instance.inputs) {
      inputs_.push_back(find(name));
      if (!name.empty() && !inputs_.back()) return missing(name);
    }
    for (const std::string& name : instance.outputs) {
      const ValueId value = find(name);
      if (!name.empty() && !value) return missing(name);
      if (value && !model_[value].producer) return fmt::format("no node computes `{}`", printable(name));
      if (value && std::ranges::find(outputs_, value) != outputs_.end()) {
        return fmt::format("`{}` is an output of it twice", printable(name));
      }
      outputs_.push_back(value);
    }
    if (std::ranges::none_of(outputs_, &ValueId::valid)) return "it names no output";
    std::string reason = collect_inner();
    if (reason.empty()) reason = find_cycle();
    if (reason.empty()) replace(instance);
    return reason;
  }

  std::string missing(const std::string& name) const {
    return fmt::format("`{}` is not in the main graph; another replacement may have taken it", printable(name));
  }

  bool is_input(ValueId value) const { return std::ranges::find(inputs_, value) != inputs_.end(); }

  // The nodes from the outputs back to the inputs.
  std::string collect_inner() {
    std::vector<NodeId> pending;
    for (const ValueId output : outputs_) {
      if (output && is_input(output)) return fmt::format("`{}` is input and output of it", name_of(output));
      if (output) pending.push_back(model_[output].producer);
    }
    while (!pending.empty()) {
      const NodeId node = pending.back();
      pending.pop_back();
      if (!inner_.insert(node).second) continue;
      if (!model_.bodies(model_[node]).empty()) return "a node with a body is within it";
      for (const ir::Use& use : model_[node].operands) {
        if (!use.value || is_input(use.value)) continue;
        const ir::Value& value = model_[use.value];
        if (value.kind == ir::ValueKind::input || value.kind == ir::ValueKind::undefined) {
          return fmt::format("it needs `{}`, which is not among its inputs", name_of(use.value));
        }
        if (value.producer) pending.push_back(value.producer);
      }
    }
    return "";
  }

  // An input that depends on an output, by a way outside the subgraph.
  std::string find_cycle() const {
    NodeId last;
    std::set<NodeId> producers;
    for (const ValueId input : inputs_) {
      const NodeId producer = input ? model_[input].producer : NodeId{};
      if (!producer) continue;
      if (inner_.contains(producer)) return fmt::format("its input `{}` is computed within it", name_of(input));
      producers.insert(producer);
      if (!last || model_.is_before(last, producer)) last = producer;
    }
    std::set<NodeId> seen;
    std::vector<NodeId> pending;
    const auto push_users = [&](ValueId value) {
      for (const ir::Use& use : ir::uses(model_, value)) {
        const NodeId user = model_.ancestor_in(use.user, model_.main_graph());
        if (user && last && !model_.is_before(last, user) && seen.insert(user).second) pending.push_back(user);
      }
    };
    for (const ValueId output : outputs_) {
      if (output) push_users(output);
    }
    while (!pending.empty()) {
      const NodeId node = pending.back();
      pending.pop_back();
      if (producers.contains(node)) return "an input depends on an output: the node would be part of a cycle";
      for (const ValueId result : model_[node].results) {
        if (result) push_users(result);
      }
    }
    return "";
  }

  void replace(const results::PluginInstance& instance) {
    const std::vector<NodeId> order = inner_in_order();
    std::vector<ir::Symbol> names;
    for (const ValueId output : outputs_) {
      names.push_back(output ? model_[output].name : ir::kEmpty);
      if (output) edit_.rename(output, ir::fresh_name(edit_, std::string(model_.text(names.back())) + "_replaced"));
    }
    std::vector<ir::Attribute> attributes;
    for (const NamedAttribute& item : instance.attributes) attributes.push_back(attribute_of(model_, item));
    const std::string label = next_label();
    const ir::NodeSpec spec = {.op = edit_.intern(plugin_.op),
                               .domain = edit_.intern(plugin_.domain),
                               .name = edit_.keep(label),
                               .operands = inputs_,
                               .results = names,
                               .attributes = attributes};
    const NodeId node = edit_.add_node(model_.main_graph(), spec, order.back());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i]) take_over(outputs_[i], model_[node].results[i]);
    }
    erase_inner(order);
  }

  std::vector<NodeId> inner_in_order() const {
    std::vector<NodeId> order(inner_.begin(), inner_.end());
    std::ranges::sort(order, [&](NodeId a, NodeId b) { return model_.is_before(a, b); });
    return order;
  }

  std::string next_label() {
    std::string label;
    do {
      label = fmt::format("onnx_graphsurgeon_node_{}", next_label_++);
    } while (model_.symbols().find(label).valid());
    return label;
  }

  void take_over(ValueId old, ValueId result) {
    if (const ir::TypeId type = model_[old].type) edit_.set_type(result, type);
    edit_.replace_uses(old, result);
    const size_t slot = model_[result].name.index;
    if (slot < values_.size()) values_[slot] = result;
  }

  // Erases nodes that nothing uses any more, from the last to the first.
  void erase_inner(const std::vector<NodeId>& order) {
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
      const bool is_used = std::ranges::any_of(
          model_[*node].results, [&](ValueId result) { return result && model_[result].first_use != nullptr; });
      if (is_used) continue;
      for (const ir::Use& use : model_[*node].operands) {
        if (use.value && model_[use.value].kind == ir::ValueKind::initializer) lost_.insert(use.value);
      }
      edit_.erase(*node);
    }
  }

  void erase_unused() {
    std::vector<ValueId> unused;
    for (const ValueId value : lost_) {
      if (!model_[value].first_use) unused.push_back(value);
    }
    edit_.erase(unused);
  }

  std::string name_of(ValueId value) const { return printable(model_.text(model_[value].name)); }

  ir::Model& model_;
  ir::Edit edit_;
  const results::PluginMatches& plugin_;
  std::vector<ValueId> values_;  // by symbol
  std::vector<ValueId> inputs_;  // of the instance at hand
  std::vector<ValueId> outputs_;
  std::set<NodeId> inner_;
  std::set<ValueId> lost_;  // initializers that erased nodes read
  uint64_t next_label_ = 0;
};

}  // namespace

std::string skipped_line(const results::PluginMatches& plugin, size_t instance, std::string_view reason) {
  const std::vector<std::string>& outputs = plugin.instances[instance].outputs;
  return fmt::format("instance {} of `{}` (`{}`): {}", instance, printable(plugin.name),
                     outputs.empty() ? "" : printable(outputs[0]), reason);
}

Replacement replace_instances(ir::Model& model, const results::PluginMatches& plugin) {
  return Replacer(model, plugin).run();
}

}  // namespace assay::surgery
