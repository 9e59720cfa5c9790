#include "inspect/model_overview.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "ir/queries.h"
#include "ir/walk.h"
#include "ops/compiled_part.h"
#include "ops/traits.h"

namespace assay::inspect {
namespace {

std::string op_label(const ir::Model& model, ir::Symbol domain, ir::Symbol op) {
  const std::string_view text = model.text(domain);
  if (text.empty() || text == "ai.onnx") return std::string(model.text(op));
  return fmt::format("{}::{}", text, model.text(op));
}

std::vector<std::pair<std::string, int64_t>> opsets(const ir::Model& model,
                                                    const std::vector<ir::OpsetImport>& imports) {
  std::vector<std::pair<std::string, int64_t>> result;
  for (const ir::OpsetImport& opset : imports) result.emplace_back(model.text(opset.domain), opset.version);
  return result;
}

uint64_t stored_bytes(const ir::TensorEntry& entry) {
  if (!entry.sparse) return entry.tensor.size_bytes();
  return entry.sparse->values.size_bytes() + entry.sparse->indices.size_bytes();
}

void count_weight(const ir::TensorEntry& entry, results::WeightCount& count) {
  ++count.tensors;
  count.elements += entry.sparse ? entry.sparse->values.count() : entry.tensor.count();
  count.bytes += stored_bytes(entry);
}

void count_initializers(const ir::Model& model, results::ModelOverview& overview) {
  for (const ir::ValueId id : ir::live_values(model)) {
    const ir::Value& value = model[id];
    if (!value.constant) continue;
    const ir::TensorEntry& entry = model[value.constant];
    const tensor::DType dtype = entry.sparse ? entry.sparse->values.dtype() : entry.tensor.dtype();
    count_weight(entry, overview.weights[tensor::name(dtype)]);
    if (!entry.external_location.empty()) overview.external_bytes += stored_bytes(entry);
  }
  for (const auto& [dtype, count] : overview.weights) {
    overview.parameter_count += count.elements;
    overview.parameter_bytes += count.bytes;
  }
}

// Counts the scaling of a dequantised weight: by one factor, one an index of an axis, or one a block.
void count_granularity(const ir::Model& model, const ir::Node& node, results::QuantizationSummary& summary) {
  const ir::Value& weight = model[node.operands[0].value];
  summary.weight_types[tensor::name(model[weight.constant].tensor.dtype())] += 1;
  const ir::ValueId scale = node.operands.size() > 1 ? node.operands[1].value : ir::ValueId{};
  const size_t rank = scale && model[scale].constant ? model[model[scale].constant].tensor.shape().size() : 0;
  ++(rank == 0 ? summary.per_tensor : rank == 1 ? summary.per_axis : summary.blocked);
}

void count_quantization(const ir::Model& model, ir::NodeId id, results::QuantizationSummary& summary) {
  const ops::Traits& traits = ops::traits(model, id);
  const bool is_quantizer = traits.is(ops::Nature::quantization);
  if (is_quantizer && !traits.decodes()) ++summary.quantize_nodes;
  if (!is_quantizer && !traits.codes.is_empty()) ++summary.quantized_op_nodes;
  if (!traits.decodes()) return;
  ++summary.dequantize_nodes;
  const ir::Node& node = model[id];
  const ir::ValueId input = node.operands.empty() ? ir::ValueId{} : node.operands[0].value;
  if (input && model[input].constant) count_granularity(model, node, summary);
}

void count_constant(const ir::Model& model, const ir::Node& node, results::WeightCount& count) {
  for (const ir::Attribute& attribute : node.attributes) {
    if (!attribute.holds_tensors()) continue;
    for (const ir::TensorId tensor : attribute.tensors()) count_weight(model[tensor], count);
  }
}

std::string_view text_of(const ir::Node& node, const ir::Model& model, std::string_view name) {
  const ir::Attribute* const attribute = model.find_attribute(node, name);
  const bool is_text = attribute != nullptr && attribute->type() == ir::AttributeType::string;
  return is_text ? model.text(attribute->string()) : std::string_view();
}

int64_t number_of(const ir::Node& node, const ir::Model& model, std::string_view name) {
  const ir::Attribute* const attribute = model.find_attribute(node, name);
  return attribute != nullptr && attribute->type() == ir::AttributeType::integer ? attribute->integer() : 1;
}

results::CompiledPart compiled_part(const ir::Model& model, ir::NodeId id) {
  const ir::Node& node = model[id];
  results::CompiledPart part;
  part.node = node.name;
  if (part.node.empty() && !node.results.empty() && node.results[0])
    part.node = model.text(model[node.results[0]].name);
  part.provider = text_of(node, model, "source");
  part.version = text_of(node, model, "ep_sdk_version");
  part.hardware = text_of(node, model, "hardware_architecture");
  part.name = text_of(node, model, "partition_name");
  part.has_code = number_of(node, model, "main_context") != 0;
  const std::string_view code = text_of(node, model, "ep_cache_context");
  if (!part.has_code) return part;
  if (number_of(node, model, "embed_mode") != 0)
    part.bytes = code.size();
  else
    part.file = code;
  return part;
}

void count_nodes(const ir::Model& model, results::ModelOverview& overview) {
  std::map<std::pair<ir::Symbol, ir::Symbol>, uint64_t> counts;
  for (const ir::NodeId id : ir::live_nodes(model)) {
    const ir::Node& node = model[id];
    ++counts[{node.domain, node.op}];
    ++overview.total_node_count;
    if (ir::is_constant_node(model, id)) count_constant(model, node, overview.constants);
    count_quantization(model, id, overview.quantization);
    if (ops::is_compiled_part(model, node)) overview.compiled.push_back(compiled_part(model, id));
  }
  for (const auto& [key, count] : counts) overview.op_histogram[op_label(model, key.first, key.second)] += count;
}

results::FunctionListing function_listing(const ir::Model& model, const ir::Function& function) {
  results::FunctionListing listing;
  listing.domain = model.text(function.domain);
  listing.name = model.text(function.name);
  listing.overload = model.text(function.overload);
  for (const ir::ValueId input : model[function.body].inputs)
    listing.inputs.emplace_back(model.text(model[input].name));
  for (const ir::Use& use : model.outputs(function.body)) {
    listing.outputs.emplace_back(use.value ? model.text(model[use.value].name) : std::string_view());
  }
  for (const ir::Symbol name : function.attribute_names) listing.attributes.emplace_back(model.text(name));
  for (const ir::Attribute& item : function.attribute_defaults)
    listing.attributes.emplace_back(model.text(item.name()));
  listing.opset_imports = opsets(model, function.opset_imports);
  listing.node_count = model[function.body].node_count;
  return listing;
}

}  // namespace

results::ModelOverview model_overview(const ir::Model& model) {
  const ir::Header& header = model.header();
  results::ModelOverview overview;
  overview.name = model.text(model[model.main_graph()].name);
  overview.ir_version = header.ir_version;
  overview.opset_imports = opsets(model, header.opset_imports);
  for (const auto& [domain, version] : overview.opset_imports) {
    if (domain.empty() || domain == "ai.onnx") overview.opset = version;
  }
  overview.producer_name = header.producer_name;
  overview.producer_version = header.producer_version;
  overview.domain = header.domain;
  overview.model_version = header.model_version;
  overview.doc = header.doc;
  overview.metadata = header.metadata;
  overview.node_count = model[model.main_graph()].node_count;
  count_nodes(model, overview);
  count_initializers(model, overview);
  for (const ir::Function& function : model.functions()) {
    overview.functions.push_back(function_listing(model, function));
  }
  return overview;
}

}  // namespace assay::inspect
