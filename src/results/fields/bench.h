#pragma once

#include "results/bench.h"
#include "results/bench_sweep.h"
#include "results/fields/comparison.h"
#include "results/profile_report.h"

namespace assay::results {

template <>
struct Fields<Interval> {
  static constexpr bool kIsList = true;
  static void of(auto& v, auto& interval) {
    v("low", interval.low);
    v("high", interval.high);
  }
};

template <>
struct Fields<Distribution> {
  static void of(auto& v, auto& times) {
    v("min", times.min);
    v("max", times.max);
    v("mean", times.mean);
    v("median", times.median);
    v.list("percentiles", times.percentiles, [](auto& item, auto& percentile) {
      item("percentile", percentile.first);
      item("seconds", percentile.second);
    });
    v("coefficient_of_variation", times.variation);
    v("mean_interval", times.mean_interval);
    v("median_interval", times.median_interval);
    v("outliers", times.outliers);
    v("drift", times.drift);
    v("has_drift", times.has_drift);
  }
};

template <>
struct Fields<BenchSample> {
  static void of(auto& v, auto& sample) {
    v("start", sample.start_seconds);
    v("latency", sample.latency_seconds);
    v("compute", sample.compute_seconds);
    v.marked(sample.is_on_device, "upload", sample.upload_seconds);
    v.when(sample.is_on_device, "download", sample.download_seconds);
    v("stream", sample.stream);
  }
};

template <>
struct Fields<LayerTimes> {
  static void of(auto& v, auto& layer) {
    v("layer", layer.layer);
    v("op", layer.op);
    v("total", layer.total_seconds);
    v("mean", layer.mean_seconds);
    v("median", layer.median_seconds);
    v("share", layer.share);
  }
};

template <>
struct Fields<BenchSide> {
  static void of(auto& v, auto& side) {
    v("backend", side.backend);
    v("title", side.title);
    v.some("description", side.description);
    v.some("failure", side.failure);
    v("load_seconds", side.load_seconds);
    if (!v.has("count", side.is_measured())) return;
    v.part("warm_up", [&](auto& part) {
      part("runs", side.warm_up_runs);
      part("seconds", side.warm_up_seconds);
    });
    v.told("count", side.run_count(), side.compute.count);
    v("is_cut", side.is_cut);
    v("wall_seconds", side.wall_seconds);
    v("throughput_qps", side.throughput);
    v("latency", side.latency);
    v("compute", side.compute);
    v.some("upload", side.upload);
    v.some("download", side.download);
    v.detail("samples", side.samples);
    v.some("layers", side.profile.layers);
  }
};

template <>
struct Fields<BenchRatio> {
  static void of(auto& v, auto& ratio) {
    v("backend", ratio.backend);
    v("of_minima", ratio.of_minima);
    v("of_minima_interval", ratio.minima_interval);
    v("of_medians", ratio.of_medians);
    v("of_medians_interval", ratio.medians_interval);
  }
};

template <>
struct Fields<ReferenceLoss> {
  static void of(auto& v, auto& loss) {
    v("pair", loss.pair);
    v("output", loss.output);
    v("loss", loss.loss);
    v("passed", loss.passed);
    v.some("fault", loss.fault);
  }
};

template <>
struct Fields<LoadTimes> {
  static void of(auto& v, auto& times) {
    v("work", times.work);
    v("bytes", times.bytes);
    v("first_seconds", times.first_seconds);
    v("others", times.others);
  }
};

template <>
struct Fields<Bench> {
  static constexpr std::string_view kCommand = "bench";
  static void of(auto& v, auto& bench) {
    v("model", bench.model);
    v.list("inputs", bench.inputs, [](auto& item, auto& value) {
      item("name", value.name);
      item("dtype", value.type);
      item.marked(value.is_tensor, "shape", value.shape);
    });
    v("streams", bench.streams);
    v.some("devices", bench.devices);
    v("threads_of_each_stream", bench.threads);
    v("is_interleaved", bench.is_interleaved);
    v("backends", bench.sides);
    v("ratios", bench.ratios);
    v.some("loss_function", bench.loss_function);
    v.when(!bench.loss_function.empty(), "loss_threshold", bench.loss_threshold);
    v.some("losses", bench.losses);
    v.some("loads", bench.loads);
    v("findings", bench.findings);
    v("timings", bench.timings);
  }
};

template <>
struct Fields<BenchSweep> {
  static constexpr std::string_view kCommand = "bench";
  static void of(auto& v, auto& sweep) {
    v.list("sweep", sweep.points, [](auto& point_fields, auto& point) {
      point_fields("label", point.label);
      point_fields("elements", point.elements);
      point_fields.some("growth", point.growth);
      point_fields.list("backends", point.bench.sides, [](auto& item, auto& side) {
        const bool is_measured = item.has("median_seconds", side.is_measured());
        // A reader makes up the count, of which only its being there matters.
        if constexpr (requires { side.failure.clear(); }) side.compute.count = is_measured ? 1 : 0;
        item("backend", side.backend);
        item.when(is_measured, "median_seconds", side.compute.median);
        item.when(is_measured, "min_seconds", side.compute.min);
        item.when(is_measured, "throughput", side.throughput);
        item.when(!is_measured, "failure", side.failure);
      });
    });
    v.told("timings", kUntimed);
  }
};

template <>
struct Fields<ProfiledLayer> {
  static void of(auto& v, auto& layer) {
    v("name", layer.layer);
    v("op", layer.op);
    v("origins", layer.origins);
    v("seconds", layer.seconds);
    v("share", layer.share);
    v.some("flops", layer.flops);
    v.some("bytes", layer.bytes);
    v.some("provider", layer.provider);
    v("bound", layer.bound);
  }
};

template <>
struct Fields<ProfiledBackend> {
  static void of(auto& v, auto& backend) {
    v("backend", backend.backend);
    v.some("failure", backend.failure);
    v("runs", backend.runs);
    v("run_seconds", backend.run_seconds);
    v.some("roof", backend.roof);
    v.some("added", backend.is_added);
    v("counters", backend.counters);
    v("layers", backend.layers);
  }
};

template <>
struct Fields<LayerGroup> {
  static void of(auto& v, auto& group) {
    v("origins", group.origins);
    v.gaps("seconds", group.seconds);
  }
};

template <>
struct Fields<MachineRoof> {
  static void of(auto& v, auto& roof) {
    v.some("threads", roof.threads);
    v("type", roof.type);
    v("flops_per_second", roof.flops_per_second);
    v("bytes_per_second", roof.bytes_per_second);
  }
};

template <>
struct Fields<ProfileReport> {
  static constexpr std::string_view kCommand = "profile";
  static void of(auto& v, auto& report) {
    v("model", report.model);
    v("roof", report.roof);
    v.some("no_counters", report.no_counters);
    v("backends", report.backends);
    v("groups", report.groups);
    v("findings", report.findings);
    v("timings", report.timings);
  }
};

}  // namespace assay::results
