#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "inspect/model_listing.h"
#include "inspect/model_overview.h"
#include "scene/make.h"
#include "scene/scopes.h"
#include "scene/tree.h"

namespace assay::scene {
namespace {

// `float32[1,64,56,56]`, or what is known of it.
std::string type_of(const ir::Model& model, const FoundTypes& types, ir::ValueId value) {
  const ir::TensorId constant = model[value].constant;
  std::string text(types.text(value));
  if (constant && !model[constant].sparse) {
    const tensor::Tensor& tensor = model[constant].tensor;
    text = ops::Type::tensor(tensor.dtype(), ops::dims_of(tensor.shape())).text();
  }
  if (text.empty()) text = inspect::type_text(model, model[value].type);
  std::erase(text, ' ');
  return text;
}

results::NodePort port(const ir::Model& model, const MadeScene& made, ir::ValueId value) {
  results::NodePort port;
  if (!value) return port;
  port.name = model.text(model[value].name);
  port.type = type_of(model, made.types, value);
  port.is_constant = is_constant(model, value);
  port.value = value_number(made, value);
  return port;
}

void add_node_facts(const ir::Model& model, const MadeScene& made, ir::NodeId id, results::NodeFacts& facts) {
  const ir::Node& node = model[id];
  facts.name = node.name;
  facts.op = model.text(node.op);
  facts.domain = model.text(node.domain);
  facts.doc = node_documentation(model, id);
  facts.metadata = node_metadata(model, id);
  for (const ir::Attribute& attribute : node.attributes) {
    facts.attributes.push_back(inspect::attribute_listing(model, attribute));
  }
  for (const ir::Use& use : node.operands) facts.inputs.push_back(port(model, made, use.value));
  for (const ir::ValueId result : node.results) facts.outputs.push_back(port(model, made, result));
  if (node.source.present) {
    facts.source = fmt::format("{} bytes at offset {} of the file", uint64_t{node.source.size}, node.source.offset);
  }
}

// `3`, `0.5`, `[1,2]`, `same_upper`.
std::string value_text(const results::AttributeListing::Value& value) {
  const auto write = [](const auto& content) -> std::string {
    using T = std::decay_t<decltype(content)>;
    if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<double>> ||
                  std::is_same_v<T, std::vector<std::string>>) {
      return fmt::format("[{}]", fmt::join(content, ","));
    } else if constexpr (std::is_same_v<T, std::vector<const tensor::Tensor*>> || std::is_same_v<T, std::monostate>) {
      return "";
    } else {
      return fmt::format("{}", content);
    }
  };
  return std::visit(write, value);
}

}  // namespace

bool has_attribute(const ir::Model& model, ir::NodeId node, std::string_view name, std::string_view text) {
  for (const ir::Attribute& attribute : model[node].attributes) {
    if (to_lower(model.text(attribute.name())).find(name) == std::string::npos) continue;
    if (text.empty() || to_lower(value_text(inspect::attribute_listing(model, attribute).value)) == text) return true;
  }
  return text.empty() && to_lower(node_documentation(model, node)).find(name) != std::string::npos;
}

uint32_t value_number(const MadeScene& made, ir::ValueId value) {
  const uint32_t number = made.scene_values[value.index];
  return number != kNoItem ? number : static_cast<uint32_t>(made.values.size()) + value.index;
}

ir::ValueId value_of(const MadeScene& made, uint32_t number) {
  if (number < made.values.size()) return made.values[number];
  const uint32_t index = number - static_cast<uint32_t>(made.values.size());
  return index < made.scene_values.size() ? ir::ValueId{index} : ir::ValueId{};
}

results::NodeFacts node_facts(const ir::Model& model, const MadeScene& made, uint32_t item) {
  results::NodeFacts facts;
  const results::SceneItems& items = made.scene.items;
  facts.macs = items.macs[item];
  facts.params = items.params[item];
  facts.bytes = items.bytes[item];
  if (made.nodes[item]) {
    add_node_facts(model, made, made.nodes[item], facts);
    return facts;
  }
  facts.name = items.names[item];
  const results::Scene& scene = made.scene;
  for (size_t i = 0; i < scene.value_producers.size(); ++i) {
    if (scene.value_producers[i] == item) facts.outputs.push_back(port(model, made, made.values[i]));
  }
  return facts;
}

}  // namespace assay::scene
