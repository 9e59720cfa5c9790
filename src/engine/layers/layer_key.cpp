#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "engine/layers/layer.h"

namespace assay::engine {
namespace {

std::string attribute_text(const ir::Model& model, const ir::Attribute& attribute) {
  if (attribute.type() == ir::AttributeType::floating) return fmt::format("{}", attribute.floating());
  if (attribute.type() == ir::AttributeType::integer) return fmt::format("{}", attribute.integer());
  if (attribute.type() == ir::AttributeType::floats) return fmt::format("{}", fmt::join(attribute.floats(), ","));
  if (attribute.type() == ir::AttributeType::integers) return fmt::format("{}", fmt::join(attribute.integers(), ","));
  if (attribute.type() == ir::AttributeType::string) return printable(model.text(attribute.string()));
  return "";  // tensors: values do not decide how long a kernel takes
}

std::string attributes_text(const ir::Model& model, const ir::Node& node) {
  std::vector<std::string> all;
  for (const ir::Attribute& attribute : node.attributes) {
    if (attribute.is_reference()) continue;
    all.push_back(fmt::format("{}={}", printable(model.text(attribute.name())), attribute_text(model, attribute)));
  }
  std::ranges::sort(all);
  return fmt::format("{}", fmt::join(all, ";"));
}

std::string desc_text(const TensorDesc& desc) {
  if (!desc.exists()) return "none";
  return fmt::format("{}[{}]/{}", tensor::name(desc.dtype), fmt::join(desc.dims, ","), fmt::join(desc.strides, ","));
}

}  // namespace

std::string layer_key(const Layer& layer) {
  const ir::Model& model = *layer.model;
  std::unordered_map<ir::ValueId, std::string> tags;
  for (size_t i = 0; i < layer.input_values.size(); ++i) tags.emplace(layer.input_values[i], fmt::format("i{}", i));
  std::string key = layer.is_strict ? "strict " : layer.permits_tf32 ? "tf32 " : "";
  for (size_t n = 0; n < layer.nodes.size(); ++n) {
    const ir::Node& node = model[layer.nodes[n]];
    key +=
        printable(model.text(node.domain).empty() ? model.text(node.op)
                                                  : fmt::format("{}.{}", model.text(node.domain), model.text(node.op)));
    key += '(';
    for (const ir::Use& use : node.operands) {
      const auto tag = tags.find(use.value);
      key += (tag == tags.end() ? "c" : tag->second) + ",";
    }
    key += attributes_text(model, node) + ") ";
    for (size_t i = 0; i < node.results.size(); ++i) tags.emplace(node.results[i], fmt::format("n{}.{}", n, i));
  }
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    key += desc_text(layer.inputs[i]) + (layer.constants[i] != nullptr ? "c " : " ");
  }
  key += "->";
  for (const TensorDesc& output : layer.outputs) key += " " + desc_text(output);
  return key;
}

std::string_view layer_name(const ir::Model& model, ir::NodeId node) {
  for (const ir::ValueId result : model[node].results) {
    if (result.valid()) return model.text(model[result].name);
  }
  return {};
}

}  // namespace assay::engine
