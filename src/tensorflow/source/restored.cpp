#include "tensorflow/source/restored.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "tensorflow/source/graph_def.h"

namespace assay::tensorflow {
namespace {

std::string_view node_part(std::string_view value) { return value.substr(0, value.rfind(':')); }

const SourceNode* node_at(const SourceGraph& graph, std::string_view value) {
  const std::optional<size_t> found = graph.producer(value);
  return found ? &graph.nodes[*found] : nullptr;
}

// The node behind those that hand a value on.
const SourceNode* origin_of(const SourceGraph& graph, std::string& value) {
  constexpr int kMostSteps = 100;
  const SourceNode* node = node_at(graph, value);
  for (int i = 0; i < kMostSteps && node != nullptr && node->op == "Identity" && !node->inputs.empty(); ++i) {
    value = node->inputs.front();
    node = node_at(graph, value);
  }
  return node;
}

// The key under which a value was read from the checkpoint; empty: it was not.
std::string key_of(const SourceGraph& graph, std::string value) {
  const SourceNode* const reading = origin_of(graph, value);
  if (reading == nullptr || reading->op != "RestoreV2" || reading->inputs.size() < 2) return {};
  size_t number = 0;
  const std::string_view digits = std::string_view(value).substr(node_part(value).size() + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  std::string names = reading->inputs[1];
  const SourceNode* const constant = origin_of(graph, names);
  if (constant == nullptr) return {};
  const auto listed = constant->attributes.find("value");
  const auto* const texts =
      listed == constant->attributes.end() ? nullptr : std::get_if<std::vector<std::string>>(&listed->second);
  return texts == nullptr || number >= texts->size() ? std::string() : (*texts)[number];
}

bool is_handle(const SourceNode& node) {
  return node.op == "VarHandleOp" || node.op == "VariableV2" || node.op == "Variable";
}

std::string shared_name(const SourceNode& node) {
  const auto found = node.attributes.find("shared_name");
  const auto* const text = found == node.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string() : *text;
}

// Keys by the node that stands for a variable.
using Keys = std::map<std::string, std::string>;

// Assignments of a graph whose values were read from the checkpoint. Handles are nodes of the main graph: in a
// function, arguments stand for them.
void find_assignments(const SourceGraph& graph, const std::map<std::string, std::string>& handles, Keys& keys) {
  for (const SourceNode& node : graph.nodes) {
    const bool assigns = node.op == "AssignVariableOp" || node.op == "Assign";
    if (!assigns || node.inputs.size() < 2) continue;
    std::string target = node.inputs[0];
    const SourceNode* const made = origin_of(graph, target);
    const auto handle = handles.find(target);
    const std::string key = key_of(graph, node.inputs[1]);
    if (key.empty()) continue;
    if (handle != handles.end()) keys.emplace(handle->second, key);
    if (handle == handles.end() && made != nullptr) keys.emplace(made->name, key);
  }
}

Keys restored_keys(const SourceModel& model, const std::string& restore_node) {
  Keys keys;
  find_assignments(model.main, {}, keys);
  const SourceNode* const call = node_at(model.main, value_name(restore_node));
  if (call == nullptr) return keys;
  const auto named = call->attributes.find("f");
  const auto* const name = named == call->attributes.end() ? nullptr : std::get_if<std::string>(&named->second);
  const auto called = name == nullptr ? model.functions.end() : model.functions.find(*name);
  if (called == model.functions.end()) return keys;
  std::map<std::string, std::string> handles;
  for (size_t i = 0; i < std::min(call->inputs.size(), called->second.inputs.size()); ++i) {
    handles.emplace(called->second.inputs[i].value, node_part(call->inputs[i]));
  }
  find_assignments(called->second, handles, keys);
  return keys;
}

const tensor::Tensor* find(const Checkpoint& checkpoint, const std::string& key) {
  const auto found = checkpoint.tensors.find(key);
  return found == checkpoint.tensors.end() ? nullptr : &found->second;
}

const tensor::Tensor* value_of(const Checkpoint& checkpoint, const Keys& keys, const SourceNode& node) {
  if (const auto key = keys.find(node.name); key != keys.end()) return find(checkpoint, key->second);
  for (const std::string& name : {shared_name(node), node.name}) {
    if (const auto key = checkpoint.keys.find(name); key != checkpoint.keys.end()) {
      if (const tensor::Tensor* const found = find(checkpoint, key->second)) return found;
    }
    if (const tensor::Tensor* const found = find(checkpoint, name)) return found;
  }
  return nullptr;
}

}  // namespace

void restore_variables(const Checkpoint& checkpoint, const std::string& restore_node, SourceModel& model) {
  const Keys keys = restored_keys(model, restore_node);
  for (const SourceNode& node : model.main.nodes) {
    if (!is_handle(node)) continue;
    if (const tensor::Tensor* const value = value_of(checkpoint, keys, node))
      model.variables.emplace(node.name, *value);
  }
}

}  // namespace assay::tensorflow
