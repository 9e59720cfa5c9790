#include "report/inspect/json_model.h"

#include <variant>

#include "results/fields/model.h"

namespace assay::report {

void JsonModelListing::overview(const results::ModelOverview& overview) {
  results::Fields<results::ModelOverview>::of(fields_, overview);
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
  results::Fields<results::GraphListing>::of(fields_, graph);
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
      fields_.write(item.info);
      continue;
    }
    json_.begin_object();
    results::Fields<results::InitializerInfo>::of(fields_, item);
    json_.key("values");
    item.tensor ? write_elements(json_, *item.tensor) : json_.null();
    json_.end_object();
  }
  json_.end_array();
}

void JsonModelListing::begin_node(const results::NodeListing& node) {
  json_.begin_object();
  results::Fields<results::NodeListing>::of(fields_, node);
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
  results::Fields<results::AttributeListing>::of(fields_, attribute);
  if (const auto* tensors = std::get_if<std::vector<const tensor::Tensor*>>(&attribute.value)) {
    json_.key("tensors");
    json_.begin_array();
    for (const tensor::Tensor* item : *tensors) tensor(*item);
    json_.end_array();
  }
  json_.end_object();
}

void JsonModelListing::tensor(const tensor::Tensor& tensor) {
  json_.begin_object();
  fields_("dtype", tensor::name(tensor.dtype()));
  fields_("shape", tensor.shape());
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
