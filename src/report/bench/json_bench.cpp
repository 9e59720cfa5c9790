#include "report/bench/json_bench.h"

#include "report/json_parts.h"

namespace assay::report {
namespace {

void write_interval(JsonWriter& json, std::string_view key, const std::optional<results::Interval>& interval) {
  json.key(key);
  if (!interval) return json.null();
  json.begin_array();
  json.value(interval->low);
  json.value(interval->high);
  json.end_array();
}

void write_percentile(JsonWriter& json, const std::pair<double, double>& percentile) {
  json.begin_object();
  json.field("percentile", percentile.first);
  json.field("seconds", percentile.second);
  json.end_object();
}

void write_distribution(JsonWriter& json, std::string_view key, const results::Distribution& times) {
  json.key(key);
  json.begin_object();
  json.field("min", times.min);
  json.field("max", times.max);
  json.field("mean", times.mean);
  json.field("median", times.median);
  write_list(json, "percentiles", times.percentiles, write_percentile);
  json.field("coefficient_of_variation", times.variation);
  write_interval(json, "mean_interval", times.mean_interval);
  write_interval(json, "median_interval", times.median_interval);
  json.field("outliers", times.outliers);
  json.field("drift", times.drift);
  json.field("has_drift", times.has_drift);
  json.end_object();
}

void write_sample(JsonWriter& json, const results::BenchSample& sample) {
  json.begin_object();
  json.field("start", sample.start_seconds);
  json.field("latency", sample.latency_seconds);
  json.field("compute", sample.compute_seconds);
  if (sample.is_on_device) {
    json.field("upload", sample.upload_seconds);
    json.field("download", sample.download_seconds);
  }
  json.field("stream", static_cast<uint64_t>(sample.stream));
  json.end_object();
}

void write_layer(JsonWriter& json, const results::LayerTimes& layer) {
  json.begin_object();
  json.field("layer", layer.layer);
  json.field("op", layer.op);
  json.field("total", layer.total_seconds);
  json.field("mean", layer.mean_seconds);
  json.field("median", layer.median_seconds);
  json.field("share", layer.share);
  json.end_object();
}

void write_measured(JsonWriter& json, const results::BenchSide& side, bool has_samples) {
  json.key("warm_up");
  json.begin_object();
  json.field("runs", side.warm_up_runs);
  json.field("seconds", side.warm_up_seconds);
  json.end_object();
  json.field("count", static_cast<uint64_t>(side.samples.size()));
  json.field("is_cut", side.is_cut);
  json.field("wall_seconds", side.wall_seconds);
  json.field("throughput_qps", side.throughput);
  write_distribution(json, "latency", side.latency);
  write_distribution(json, "compute", side.compute);
  if (side.is_on_device()) {
    write_distribution(json, "upload", side.upload);
    write_distribution(json, "download", side.download);
  }
  if (has_samples) write_list(json, "samples", side.samples, write_sample);
  if (!side.profile.layers.empty()) write_list(json, "layers", side.profile.layers, write_layer);
}

void write_side(JsonWriter& json, const results::BenchSide& side, bool has_samples) {
  json.begin_object();
  json.field("backend", side.backend);
  json.field("title", side.title);
  if (!side.description.empty()) json.field("description", side.description);
  if (!side.failure.empty()) json.field("failure", side.failure);
  json.field("load_seconds", side.load_seconds);
  if (side.is_measured()) write_measured(json, side, has_samples);
  json.end_object();
}

void write_ratio(JsonWriter& json, const results::BenchRatio& ratio) {
  json.begin_object();
  json.field("backend", ratio.backend);
  json.field("of_minima", ratio.of_minima);
  write_interval(json, "of_minima_interval", ratio.minima_interval);
  json.field("of_medians", ratio.of_medians);
  write_interval(json, "of_medians_interval", ratio.medians_interval);
  json.end_object();
}

void write_input(JsonWriter& json, const results::RunValue& value) {
  json.begin_object();
  json.field("name", value.name);
  json.field("dtype", value.type);
  if (value.is_tensor) write_numbers(json, "shape", value.shape);
  json.end_object();
}

}  // namespace

std::string bench_json(const results::Bench& bench, bool has_samples) {
  JsonReport out("bench");
  JsonWriter& json = out.json;
  json.field("model", bench.model);
  write_list(json, "inputs", bench.inputs, write_input);
  json.field("streams", static_cast<uint64_t>(bench.streams));
  json.field("threads_of_each_stream", static_cast<uint64_t>(bench.threads));
  json.field("is_interleaved", bench.is_interleaved);
  write_list(json, "backends", bench.sides,
             [&](JsonWriter& writer, const results::BenchSide& side) { write_side(writer, side, has_samples); });
  write_list(json, "ratios", bench.ratios, write_ratio);
  return out.end(bench.findings, bench.timings);
}

}  // namespace assay::report
