#include "report/inspect/json_model.h"

#include <charconv>
#include <variant>

namespace assay::report {
namespace {

void write_count(JsonWriter& json, const results::WeightCount& count) {
  json.begin_object();
  json.field("tensors", count.tensors);
  json.field("elements", count.elements);
  json.field("bytes", count.bytes);
  json.end_object();
}

template <typename T>
void write_array(JsonWriter& json, const std::vector<T>& items) {
  json.begin_array();
  for (const T& item : items) json.value(item);
  json.end_array();
}

void write_pairs(JsonWriter& json, const std::vector<std::pair<std::string, int64_t>>& pairs) {
  json.begin_object();
  for (const auto& [name, number] : pairs) json.field(name, number);
  json.end_object();
}

// Writes a number as it is, a formula as text.
void write_amount(JsonWriter& json, std::string_view key, const std::string& text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, number);
  if (result.ec == std::errc() && result.ptr == end) {
    json.field(key, number);
  } else {
    json.field(key, text);
  }
}

void write_cost(JsonWriter& json, const results::Cost& cost) {
  write_amount(json, "macs", cost.macs);
  write_amount(json, "bytes_moved", cost.bytes);
}

}  // namespace

void JsonModelListing::overview(const results::ModelOverview& overview) {
  json_.field("model", overview.path);
  json_.field("name", overview.name);
  json_.field("ir_version", overview.ir_version);
  json_.key("opset");
  overview.opset ? json_.value(*overview.opset) : json_.null();
  json_.key("opset_imports");
  write_pairs(json_, overview.opset_imports);
  json_.field("producer_name", overview.producer_name);
  json_.field("producer_version", overview.producer_version);
  json_.field("domain", overview.domain);
  json_.field("model_version", overview.model_version);
  json_.field("doc_string", overview.doc);
  json_.key("metadata");
  json_.begin_object();
  for (const auto& [key, value] : overview.metadata) json_.field(key, value);
  json_.end_object();
  counts(overview);
  quantization(overview.quantization);
  functions(overview.functions);
  findings(overview);
}

void JsonModelListing::counts(const results::ModelOverview& overview) {
  json_.field("node_count", static_cast<uint64_t>(overview.node_count));
  json_.field("total_node_count", static_cast<uint64_t>(overview.total_node_count));
  json_.key("op_histogram");
  json_.begin_object();
  for (const auto& [op, count] : overview.op_histogram) json_.field(op, count);
  json_.end_object();
  json_.field("parameter_count", overview.parameter_count);
  json_.field("parameter_bytes", overview.parameter_bytes);
  json_.field("external_bytes", overview.external_bytes);
  if (overview.cost) write_cost(json_, *overview.cost);
  if (overview.unbounded_sizes) {
    json_.key("unbounded_dds");
    json_.begin_array();
    for (const std::string& name : *overview.unbounded_sizes) json_.value(name);
    json_.end_array();
  }
  json_.key("weights");
  json_.begin_object();
  for (const auto& [dtype, count] : overview.weights) {
    json_.key(dtype);
    write_count(json_, count);
  }
  json_.end_object();
  json_.key("constants");
  write_count(json_, overview.constants);
}

void JsonModelListing::quantization(const results::QuantizationSummary& summary) {
  json_.key("quantization");
  if (summary.empty()) return json_.null();
  json_.begin_object();
  json_.field("quantize_nodes", summary.quantize_nodes);
  json_.field("dequantize_nodes", summary.dequantize_nodes);
  json_.field("quantized_op_nodes", summary.quantized_op_nodes);
  json_.key("weight_types");
  json_.begin_object();
  for (const auto& [dtype, count] : summary.weight_types) json_.field(dtype, count);
  json_.end_object();
  json_.field("per_tensor", summary.per_tensor);
  json_.field("per_axis", summary.per_axis);
  json_.field("blocked", summary.blocked);
  json_.end_object();
}

void JsonModelListing::functions(const std::vector<results::FunctionListing>& functions) {
  json_.key("functions");
  json_.begin_array();
  for (const results::FunctionListing& function : functions) {
    json_.begin_object();
    json_.field("domain", function.domain);
    json_.field("name", function.name);
    json_.field("overload", function.overload);
    json_.key("inputs");
    write_array(json_, function.inputs);
    json_.key("outputs");
    write_array(json_, function.outputs);
    json_.key("attributes");
    write_array(json_, function.attributes);
    json_.key("opset_imports");
    write_pairs(json_, function.opset_imports);
    json_.field("node_count", static_cast<uint64_t>(function.node_count));
    json_.end_object();
  }
  json_.end_array();
}

void JsonModelListing::findings(const results::ModelOverview& overview) {
  report_.write_findings("findings", overview.findings);
  json_.field("findings_dropped", static_cast<uint64_t>(overview.findings_dropped));
}

void JsonModelListing::values(std::string_view key, const std::vector<results::ValueInfo>& infos) {
  json_.key(key);
  json_.begin_array();
  for (const results::ValueInfo& info : infos) write_value_info(json_, info);
  json_.end_array();
}

void JsonModelListing::begin_graph(const results::GraphListing& graph) {
  if (graph.role == results::GraphRole::function) {
    if (!in_functions_) {
      json_.key("function_graphs");
      json_.begin_array();
    }
    in_functions_ = true;
  }
  if (graph.role == results::GraphRole::body) begin_attributes();
  if (graph.role != results::GraphRole::main) {
    json_.begin_object();
    json_.field("name", graph.role == results::GraphRole::body ? graph.attribute : graph.name);
    if (graph.role == results::GraphRole::body) json_.field("type", "GRAPH");
  }
  values("inputs", graph.inputs);
  values("outputs", graph.outputs);
  json_.field("initializer_count", static_cast<uint64_t>(graph.initializer_count));
  initializers(graph);
  if (with_layers_) {
    json_.key("nodes");
    json_.begin_array();
  }
  graphs_.push_back({graph.role, with_layers_});
}

void JsonModelListing::initializers(const results::GraphListing& graph) {
  if (graph.initializers.empty()) return;
  json_.key("initializers");
  json_.begin_array();
  for (const results::InitializerInfo& item : graph.initializers) {
    if (!with_weights_) {
      write_value_info(json_, item.info);
      continue;
    }
    json_.begin_object();
    json_.key("tensor");
    write_value_info(json_, item.info);
    if (!item.external_location.empty()) json_.field("external_location", item.external_location);
    json_.key("values");
    item.tensor ? write_elements(json_, *item.tensor) : json_.null();
    json_.end_object();
  }
  json_.end_array();
}

void JsonModelListing::begin_node(const results::NodeListing& node) {
  json_.begin_object();
  json_.field("index", static_cast<uint64_t>(node.index));
  json_.field("name", node.name);
  json_.field("op", node.op);
  json_.field("domain", node.domain);
  values("inputs", node.inputs);
  values("outputs", node.outputs);
  if (node.cost) write_cost(json_, *node.cost);
  has_attributes_.push_back(false);
}

void JsonModelListing::begin_attributes() {
  if (has_attributes_.back()) return;
  has_attributes_.back() = true;
  json_.key("attributes");
  json_.begin_array();
}

void JsonModelListing::attribute(const results::AttributeListing& attribute) {
  begin_attributes();
  json_.begin_object();
  json_.field("name", attribute.name);
  json_.field("type", std::string(attribute.type));
  if (!attribute.reference.empty()) json_.field("reference", attribute.reference);
  const auto write = [&](const auto& value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::vector<const tensor::Tensor*>>) {
      json_.key("tensors");
      json_.begin_array();
      for (const tensor::Tensor* item : value) tensor(*item);
      json_.end_array();
    } else if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<double>> ||
                         std::is_same_v<T, std::vector<std::string>>) {
      json_.key("value");
      write_array(json_, value);
    } else if constexpr (!std::is_same_v<T, std::monostate>) {
      json_.field("value", value);
    }
  };
  std::visit(write, attribute.value);
  json_.end_object();
}

void JsonModelListing::tensor(const tensor::Tensor& tensor) {
  json_.begin_object();
  json_.field("dtype", tensor::name(tensor.dtype()));
  json_.key("shape");
  write_array(json_, tensor.shape());
  if (with_weights_) {
    json_.key("values");
    write_elements(json_, tensor);
  }
  json_.end_object();
}

void JsonModelListing::end_node() {
  if (has_attributes_.back()) json_.end_array();
  has_attributes_.pop_back();
  json_.end_object();
}

void JsonModelListing::end_graph() {
  if (graphs_.back().nodes) json_.end_array();
  if (graphs_.back().role != results::GraphRole::main) json_.end_object();
  graphs_.pop_back();
}

std::string JsonModelListing::take_text(const Timings& timings) {
  if (in_functions_) json_.end_array();
  return report_.end(timings);
}

}  // namespace assay::report
