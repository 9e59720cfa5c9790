#include "report/json_conversion.h"

#include "base/json.h"
#include "report/json_model.h"

namespace assay::report {
namespace {

void write_error(JsonWriter& json, const std::optional<results::LayerError>& error) {
  json.key("error");
  if (!error) return json.null();
  json.begin_object();
  json.field("max_abs", error->max_abs);
  json.field("max_rel", error->max_rel);
  json.field("cosine", error->cosine);
  json.field("snr_db", error->snr_db);
  json.end_object();
}

void write_layer(JsonWriter& json, const results::ConvertedLayer& layer) {
  json.begin_object();
  json.field("name", layer.name);
  json.field("op", layer.op);
  json.field("precision", layer.precision);
  json.field("reason", layer.reason);
  json.key("magnitude");
  layer.magnitude ? json.value(*layer.magnitude) : json.null();
  write_error(json, layer.error);
  json.end_object();
}

void write_weight(JsonWriter& json, const results::WeightLoss& weight) {
  json.begin_object();
  json.field("name", weight.name);
  json.field("largest", weight.largest);
  json.field("overflows", weight.overflows);
  json.field("flushed", weight.flushed);
  json.end_object();
}

}  // namespace

std::string conversion_json(const results::ConversionReport& report) {
  JsonWriter json;
  json.begin_object();
  json.field("schema", "assay/convert/1");
  json.field("model", report.model);
  json.field("output", report.output);
  json.field("conversion", report.conversion);
  json.field("changed", report.changed);
  json.field("casts_added", report.casts_added);
  json.field("casts_removed", report.casts_removed);
  json.field("weights_converted", report.weights_converted);
  json.field("weight_bytes_before", report.weight_bytes_before);
  json.field("weight_bytes_after", report.weight_bytes_after);
  json.field("activations", report.activations);
  json.field("calibration", report.calibration);
  json.key("layers");
  json.begin_array();
  for (const results::ConvertedLayer& layer : report.layers) write_layer(json, layer);
  json.end_array();
  json.key("weights");
  json.begin_array();
  for (const results::WeightLoss& weight : report.weights) write_weight(json, weight);
  json.end_array();
  json.key("findings");
  write_findings(json, report.findings);
  json.key("timings");
  write_timings(json, report.timings);
  json.end_object();
  return json.text();
}

}  // namespace assay::report
