#include "report/bench/json_trtexec.h"

#include <fmt/format.h>

#include "report/json_parts.h"

namespace assay::report {
namespace {

constexpr double kMilliseconds = 1e3;

// On the processor, inputs are read where they are: handing over outputs is what a run takes beside computing.
void write_run(JsonWriter& json, const results::BenchSample& sample) {
  const double start = sample.start_seconds * kMilliseconds;
  const double upload = sample.upload_seconds * kMilliseconds;
  const double compute = sample.compute_seconds * kMilliseconds;
  const double latency = sample.latency_seconds * kMilliseconds;
  json.begin_object();
  json.field("startEnqMs", start);
  json.field("endEnqMs", start + latency);
  json.field("startH2dMs", start);
  json.field("endH2dMs", start + upload);
  json.field("startComputeMs", start + upload);
  json.field("endComputeMs", start + upload + compute);
  json.field("startD2hMs", start + upload + compute);
  json.field("endD2hMs", start + latency);
  json.field("h2dMs", upload);
  json.field("computeMs", compute);
  json.field("d2hMs", latency - upload - compute);
  json.field("latencyMs", latency);
  json.end_object();
}

void write_layer(JsonWriter& json, const results::LayerTimes& layer) {
  json.begin_object();
  json.field("name", layer.layer);
  json.field("timeMs", layer.total_seconds * kMilliseconds);
  json.field("averageMs", layer.mean_seconds * kMilliseconds);
  json.field("medianMs", layer.median_seconds * kMilliseconds);
  json.field("percentage", layer.share * 100);
  json.end_object();
}

void write_output(JsonWriter& json, const tensor::NamedDatum& output) {
  json.begin_object();
  json.field("name", output.name);
  if (output.value.is_tensor()) {
    json.field("dimensions", fmt::format("{}", fmt::join(output.value.tensor().shape(), "x")));
    json.key("values");
    write_elements(json, output.value.tensor());
  }
  json.end_object();
}

}  // namespace

std::string trtexec_times(const results::BenchSide& side) {
  JsonWriter json;
  json.begin_array();
  for (const results::BenchSample& sample : side.samples) write_run(json, sample);
  json.end_array();
  return json.text();
}

std::string trtexec_profile(const results::LayerProfile& profile) {
  JsonWriter json;
  json.begin_array();
  json.begin_object();
  json.field("count", profile.runs);
  json.end_object();
  for (const results::LayerTimes& layer : profile.layers) write_layer(json, layer);
  json.end_array();
  return json.text();
}

std::string trtexec_layers(const results::Bench& bench, const tensor::NamedData& outputs) {
  std::vector<std::string> layers;
  for (const results::LayerTimes& layer : bench.sides[0].profile.layers) layers.push_back(layer.layer);
  std::vector<std::string> bindings;
  for (const results::RunValue& input : bench.inputs) bindings.push_back(input.name);
  for (const tensor::NamedDatum& output : outputs) bindings.push_back(output.name);
  JsonWriter json;
  json.begin_object();
  write_texts(json, "Layers", layers);
  write_texts(json, "Bindings", bindings);
  json.end_object();
  return json.text();
}

std::string trtexec_outputs(const tensor::NamedData& outputs) {
  JsonWriter json;
  json.begin_array();
  for (const tensor::NamedDatum& output : outputs) write_output(json, output);
  json.end_array();
  return json.text();
}

}  // namespace assay::report
