#pragma once

#include "results/conversion.h"
#include "results/edit_report.h"
#include "results/fields/findings.h"
#include "results/fields/steps.h"
#include "results/plugin_report.h"
#include "results/statistics.h"

namespace assay::results {

template <>
struct Fields<LayerError> {
  static void of(auto& v, auto& error) {
    v("max_abs", error.max_abs);
    v("max_rel", error.max_rel);
    v("cosine", error.cosine);
    v("snr_db", error.snr_db);
  }
};

template <>
struct Fields<ConvertedLayer> {
  static void of(auto& v, auto& layer) {
    v("name", layer.name);
    v("op", layer.op);
    v("precision", layer.precision);
    v("reason", layer.reason);
    v("magnitude", layer.magnitude);
    v("error", layer.error);
  }
};

template <>
struct Fields<WeightLoss> {
  static void of(auto& v, auto& weight) {
    v("name", weight.name);
    v("largest", weight.largest);
    v("overflows", weight.overflows);
    v("flushed", weight.flushed);
  }
};

template <>
struct Fields<LayerSensitivity> {
  static void of(auto& v, auto& layer) {
    v("name", layer.name);
    v("output_snr_db", layer.output_snr_db);
    v("bytes_before", layer.bytes_before);
    v("bytes_after", layer.bytes_after);
    v("macs", layer.macs);
  }
};

template <>
struct Fields<ConversionPoint> {
  static void of(auto& v, auto& point) {
    v("left_out", point.left_out);
    v("bytes", point.bytes);
    v("macs", point.macs);
    v("expected_snr_db", point.expected_snr_db);
    v("measured", point.measured);
    v("seconds", point.seconds);
  }
};

template <>
struct Fields<ConversionReport> {
  static constexpr std::string_view kCommand = "convert";
  static void of(auto& v, auto& report) {
    v("model", report.model);
    v("output", report.output);
    v("conversion", report.conversion);
    v("changed", report.changed);
    v("casts_added", report.casts_added);
    v("casts_removed", report.casts_removed);
    v("clips_added", report.clips_added);
    v("weights_converted", report.weights_converted);
    v("weight_bytes_before", report.weight_bytes_before);
    v("weight_bytes_after", report.weight_bytes_after);
    v("activations", report.activations);
    v("calibration", report.calibration);
    v("output_snr_db", report.output_snr_db);
    v("layers", report.layers);
    v("weights", report.weights);
    v.some("sensitivity", report.sensitivity);
    v.some("points", report.points);
    v.some("steps", report.steps);
    v("findings", report.findings);
    v("timings", report.timings);
  }
};

template <>
struct Fields<ValueStatistics> {
  static void of(auto& v, auto& value) {
    v("name", value.name);
    v("low", value.low);
    v("high", value.high);
    v("width", value.width);
    v("counts", value.counts);
  }
};

template <>
struct Fields<CalibrationStatistics> {
  static void of(auto& v, auto& statistics) {
    v("schema", statistics.schema);
    v("model", statistics.model);
    v("digest", statistics.digest);
    v("values", statistics.values);
  }
};

template <>
struct Fields<ModelSize> {
  static void of(auto& v, auto& size) {
    v("nodes", size.nodes);
    v("initializers", size.initializers);
    v("initializer_bytes", size.initializer_bytes);
  }
};

template <>
struct Fields<Change> {
  static void of(auto& v, auto& change) {
    v("action", change.action);
    v("name", change.name);
    v("detail", change.detail);
  }
};

template <>
struct Fields<EditReport> {
  static void of(auto& v, auto& report) {
    v.command(report.command);
    v("model", report.model);
    v("output", report.output);
    v.some("outputs", report.outputs);
    v("before", report.before);
    v("after", report.after);
    v("changes", report.changes);
    v("skipped", report.skipped);
    v.some("steps", report.steps);
    v("findings", report.findings);
    v("timings", report.timings);
  }
};

template <>
struct Fields<PluginInstance> {
  static void of(auto& v, auto& instance) {
    v("inputs", instance.inputs);
    v("outputs", instance.outputs);
    v.attributes("attributes", instance.attributes);
  }
};

template <>
struct Fields<PluginMatches> {
  static void of(auto& v, auto& plugin) {
    v("name", plugin.name);
    v("op", plugin.op);
    v("domain", plugin.domain);
    v("instances", plugin.instances);
  }
};

template <>
struct Fields<PluginReport> {
  static void of(auto& v, auto& report) {
    v.command(report.command);
    v("model", report.model);
    v("output", report.output);
    v("plugins", report.plugins);
    v("findings", report.findings);
    v("timings", report.timings);
  }
};

}  // namespace assay::results
