#include "report/edit/json_conversion.h"

#include "report/json_parts.h"

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
  JsonReport out("convert");
  JsonWriter& json = out.json;
  json.field("model", report.model);
  json.field("output", report.output);
  json.field("conversion", report.conversion);
  json.field("changed", report.changed);
  json.field("casts_added", report.casts_added);
  json.field("casts_removed", report.casts_removed);
  json.field("clips_added", report.clips_added);
  json.field("weights_converted", report.weights_converted);
  json.field("weight_bytes_before", report.weight_bytes_before);
  json.field("weight_bytes_after", report.weight_bytes_after);
  json.field("activations", report.activations);
  json.field("calibration", report.calibration);
  json.key("output_snr_db");
  report.output_snr_db ? json.value(*report.output_snr_db) : json.null();
  write_list(json, "layers", report.layers, write_layer);
  write_list(json, "weights", report.weights, write_weight);
  return out.end(report.findings, report.timings);
}

}  // namespace assay::report
