#include "engine/lowering/layer_maker.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "engine/lowering/lower.h"
#include "schema/imports.h"

namespace assay::engine {

using ir::NodeId;
using ir::ValueId;

namespace {

constexpr int64_t kFirstIrVersion = 8;  // that has functions

}  // namespace

std::vector<ValueId> LayerMaker::inputs_of(const std::vector<NodeId>& group) const {
  std::set<ValueId> made;
  std::vector<ValueId> inputs;
  for (const NodeId id : group) {
    for (const ir::Use& use : model_[id].operands) {
      const bool is_known = made.contains(use.value) || std::ranges::find(inputs, use.value) != inputs.end();
      if (use.value.valid() && !is_known) inputs.push_back(use.value);
    }
    made.insert(model_[id].results.begin(), model_[id].results.end());
  }
  return inputs;
}

void LayerMaker::copy_nodes(const std::vector<NodeId>& group, ir::GraphId body,
                            std::unordered_map<ValueId, ValueId>& copies) {
  for (const NodeId id : group) {
    const ir::Node& node = model_[id];
    std::vector<ValueId> operands;
    for (const ir::Use& use : node.operands) operands.push_back(use.value.valid() ? copies.at(use.value) : ValueId());
    std::vector<ir::Symbol> results;
    for (const ValueId value : node.results) results.push_back(value.valid() ? model_[value].name : ir::kEmpty);
    const std::vector<ir::Attribute> attributes(node.attributes.begin(), node.attributes.end());
    const NodeId made = rewriter_.edit().add_node(body, {.op = node.op,
                                                         .domain = node.domain,
                                                         .name = node.name,
                                                         .operands = operands,
                                                         .results = results,
                                                         .attributes = attributes});
    rewriter_.edit().origins().merge(made, {id});
    for (size_t i = 0; i < results.size(); ++i) {
      if (model_[id].results[i].valid()) copies[model_[id].results[i]] = model_[made].results[i];
    }
  }
}

std::string LayerMaker::name_of(const std::vector<NodeId>& group) {
  std::string name;
  for (const NodeId id : group) name += fmt::format("{}{}", name.empty() ? "" : "_", model_.text(model_[id].op));
  return fmt::format("{}_{}", name, number_++);
}

void LayerMaker::make(const std::vector<NodeId>& group) {
  ir::Edit& edit = rewriter_.edit();
  ir::Header& header = edit.header();
  header.ir_version = std::max(header.ir_version, kFirstIrVersion);
  schema::import_domain(model_, kDomain);
  const ir::Symbol name = edit.intern(name_of(group));
  const ir::GraphId body = edit.add_graph(name);
  const std::vector<ValueId> inputs = inputs_of(group);
  std::unordered_map<ValueId, ValueId> copies;
  for (const ValueId input : inputs) copies[input] = edit.add_input(body, model_[input].name);
  copy_nodes(group, body, copies);
  const std::vector<ValueId> results = results_of(group);
  std::vector<ValueId> outputs;
  for (const ValueId result : results) outputs.push_back(copies.at(result));
  edit.set_outputs(body, outputs);
  ir::Function function;
  function.domain = edit.intern(kDomain);
  function.name = name;
  function.body = body;
  function.opset_imports = model_.header().opset_imports;
  function.dirty = true;
  edit.add_function(std::move(function));
  call(group, name, inputs, results);
}

std::vector<ValueId> LayerMaker::results_of(const std::vector<NodeId>& group) const {
  std::vector<ValueId> results = {model_[group.back()].results.front()};
  const auto is_used_outside = [&](ValueId value) {
    for (const ir::Use& use : ir::uses(model_, value)) {
      if (std::ranges::find(group, use.user) == group.end()) return true;
    }
    return false;
  };
  for (const NodeId node : std::span(group).first(group.size() - 1)) {
    for (const ValueId value : model_[node].results) {
      if (value.valid() && is_used_outside(value)) results.push_back(value);
    }
  }
  return results;
}

void LayerMaker::call(const std::vector<NodeId>& group, ir::Symbol name, const std::vector<ValueId>& inputs,
                      const std::vector<ValueId>& results) {
  ir::Edit& edit = rewriter_.edit();
  std::vector<ir::Symbol> names;
  for (const ValueId result : results) names.push_back(model_[result].name);
  const NodeId made = edit.add_node(model_.main_graph(),
                                    {.op = name,
                                     .domain = edit.intern(kDomain),
                                     .name = model_[group.front()].name,
                                     .operands = inputs,
                                     .results = names},
                                    model_[group.back()].next);
  for (size_t i = 0; i < results.size(); ++i) {
    const ValueId result = model_[made].results[i];
    edit.set_type(result, model_[results[i]].type);
    edit.replace_uses(results[i], result);
    edit.origins().replace(results[i], result);
  }
  edit.origins().merge(made, group);
  for (size_t i = group.size(); i-- > 0;) edit.erase(group[i]);
}

}  // namespace assay::engine
