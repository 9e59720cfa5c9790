#include "report/inspect/json_engine.h"

#include "report/json_parts.h"

namespace assay::report {
namespace {

void write_tensor(JsonWriter& json, const results::EngineTensor& tensor) {
  json.begin_object();
  json.field("name", tensor.info.name);
  json.field("dtype", tensor.info.type);
  std::vector<int64_t> dims;
  for (const results::ListedDim& dim : tensor.info.shape) dims.push_back(dim.value.value_or(-1));
  if (tensor.info.ranked) write_numbers(json, "shape", dims);
  json.field("format", tensor.format);
  if (tensor.range) {
    json.field("min", tensor.range->least);
    json.field("max", tensor.range->greatest);
    json.field("mean", tensor.range->mean);
  }
  json.end_object();
}

void write_layer(JsonWriter& json, const results::EngineLayer& layer) {
  json.begin_object();
  json.field("name", layer.name);
  json.field("op", layer.op);
  json.field("tactic", layer.tactic);
  write_texts(json, "origins", layer.origins);
  write_list(json, "inputs", layer.inputs, write_tensor);
  write_list(json, "outputs", layer.outputs, write_tensor);
  json.end_object();
}

void write_range(JsonWriter& json, const results::EngineRange& range) {
  json.begin_object();
  json.field("input", range.input);
  json.field("is_values", range.is_values);
  json.field("is_any", range.is_any);
  write_numbers(json, "min", range.least);
  write_numbers(json, "opt", range.best);
  write_numbers(json, "max", range.most);
  json.end_object();
}

void write_unplanned(JsonWriter& json, const results::UnplannedNode& node) {
  json.begin_object();
  json.field("name", node.name);
  json.field("op", node.op);
  json.end_object();
}

void write_profile(JsonWriter& json, const results::EngineProfile& profile) {
  json.begin_object();
  write_list(json, "inputs", profile.inputs, write_range);
  json.field("is_planned", profile.is_planned);
  json.field("memory_bytes", profile.memory_bytes);
  write_list(json, "layers", profile.layers, write_layer);
  write_list(json, "nodes_without_layer", profile.unplanned, write_unplanned);
  json.end_object();
}

}  // namespace

std::string engine_json(const results::EngineListing& listing) {
  JsonReport report("inspect model");
  JsonWriter& json = report.json;
  json.field("kind", listing.is_network ? "network" : "engine");
  json.field("path", listing.path);
  json.field("name", listing.name);
  json.field("machine", listing.machine);
  json.field("source", listing.source);
  json.field("is_strict", listing.is_strict);
  write_texts(json, "permissions", listing.permissions);
  write_list(json, "inputs", listing.inputs, write_value_info);
  write_list(json, "outputs", listing.outputs, write_value_info);
  json.field("memory_bytes", listing.memory_bytes);
  json.field("weight_bytes", listing.weight_bytes);
  json.field("packed_bytes", listing.packed_bytes);
  json.field("file_bytes", listing.file_bytes);
  write_list(json, "profiles", listing.profiles, write_profile);
  return report.end(listing.timings);
}

}  // namespace assay::report
