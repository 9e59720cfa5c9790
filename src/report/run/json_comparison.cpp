#include "report/run/json_comparison.h"

#include "report/json_parts.h"
#include "report/run/json_stats.h"

namespace assay::report {
namespace {

template <typename T>
void write_optional(JsonWriter& json, std::string_view key, const std::optional<T>& content) {
  json.key(key);
  content ? json.value(*content) : json.null();
}

std::optional<double> median(const results::TensorStats& stats) {
  return stats.percentiles ? std::optional(stats.percentiles->median) : std::nullopt;
}

// Writes the counts of both sides.
void write_counts(JsonWriter& json, std::string_view key, uint64_t a, uint64_t b) {
  json.key(key);
  json.begin_array();
  json.value(a);
  json.value(b);
  json.end_array();
}

void write_metrics(JsonWriter& json, const results::PairMetrics& metrics) {
  json.field("count", metrics.count);
  json.field("max_abs", metrics.absolute.greatest);
  json.field("max_rel", metrics.relative.greatest);
  json.field("mean_abs", metrics.absolute.mean);
  json.field("mean_rel", metrics.relative.mean);
  write_optional(json, "median_abs", median(metrics.absolute));
  write_optional(json, "median_rel", median(metrics.relative));
  write_optional(json, "quantile_abs", metrics.quantile_absolute);
  write_optional(json, "quantile_rel", metrics.quantile_relative);
  json.field("max_ulp", metrics.max_ulp);
  json.field("l2", metrics.l2);
  json.field("cosine", metrics.cosine);
  json.field("psnr_db", metrics.psnr_db);
  json.field("snr_db", metrics.snr_db);
  if (metrics.divergence) json.field("kl_divergence", *metrics.divergence);
  json.field("failed_count", metrics.failed_count);
  write_index(json, "first_failed_index", metrics.first_failed_at);
  write_index(json, "worst_index", metrics.worst_at);
  write_counts(json, "nan_count", metrics.a.nan_count, metrics.b.nan_count);
  write_counts(json, "inf_count", metrics.a.inf_count, metrics.b.inf_count);
  const auto write_side = [&](std::string_view key, const results::TensorStats& stats) {
    json.key(key);
    write_stats(json, stats);
  };
  write_side("a", metrics.a);
  write_side("b", metrics.b);
}

void write_judgement(JsonWriter& json, const results::Judgement& judgement) {
  json.begin_object();
  json.field("function", judgement.function);
  json.field("passed", judgement.passed);
  if (judgement.unequal_strings) {
    json.field("unequal_strings", *judgement.unequal_strings);
    if (judgement.allowed_share > 0) json.field("allowed_share", judgement.allowed_share);
  } else if (judgement.function == "simple") {
    json.field("check_error_stat", judgement.statistic);
    json.field("atol", judgement.atol);
    json.field("rtol", judgement.rtol);
    if (judgement.statistic == "quantile") json.field("quantile", judgement.quantile);
    if (judgement.allowed_share > 0) json.field("allowed_share", judgement.allowed_share);
    json.field("required_abs", judgement.required_abs);
    json.field("required_rel", judgement.required_rel);
  } else {
    json.field("value", judgement.value);
    json.field("threshold", judgement.bound);
  }
  json.end_object();
}

void write_judgements(JsonWriter& json, const std::vector<results::Judgement>& judgements) {
  write_list(json, "thresholds", judgements, write_judgement);
}

void write_output(JsonWriter& json, const results::OutputComparison& output) {
  json.begin_object();
  json.field("name", output.name_a);
  json.field("name_b", output.name_b);
  json.field("passed", output.passed);
  json.field("dtype", output.dtype_a);
  json.field("dtype_b", output.dtype_b);
  write_numbers(json, "shape", output.shape_a);
  write_numbers(json, "shape_b", output.shape_b);
  if (!output.fault.empty()) json.field("fault", output.fault);
  if (!output.shape_note.empty()) json.field("shape_note", output.shape_note);
  if (!output.match.empty()) json.field("matched_by", output.match);
  if (!output.tolerance_reason.empty()) json.field("tolerance_reason", output.tolerance_reason);
  write_judgements(json, output.judgements);
  if (output.metrics) write_metrics(json, *output.metrics);
  json.end_object();
}

void write_iteration(JsonWriter& json, const results::IterationComparison& iteration) {
  json.begin_object();
  json.field("index", iteration.index);
  json.field("passed", iteration.passed);
  write_list(json, "outputs", iteration.outputs, write_output);
  write_texts(json, "missing", iteration.missing);
  write_texts(json, "extra", iteration.extra);
  write_texts(json, "unpaired", iteration.unpaired);
  json.end_object();
}

}  // namespace

void write_index(JsonWriter& json, std::string_view key, const std::optional<std::vector<int64_t>>& index) {
  if (index) return write_numbers(json, key, *index);
  json.key(key);
  json.null();
}

std::string_view text(results::Verdict verdict) {
  switch (verdict) {
    case results::Verdict::equal:
      return "passed";
    case results::Verdict::different:
      return "failed";
    case results::Verdict::undecided:
      return "undecided";
  }
  return "undecided";
}

void write_pair(JsonWriter& json, const results::PairComparison& pair) {
  json.begin_object();
  json.field("runner_a", pair.runner_a);
  json.field("runner_b", pair.runner_b);
  json.field("verdict", text(pair.verdict));
  json.field("passed", pair.verdict == results::Verdict::equal);
  json.field("passed_iterations", pair.passed_count);
  json.field("iterations_a", pair.iterations_a);
  json.field("iterations_b", pair.iterations_b);
  json.field("stopped_early", pair.stopped);
  write_optional(json, "first_failed", pair.first_failed);
  write_list(json, "iterations", pair.iterations, write_iteration);
  json.end_object();
}

void write_averages(JsonWriter& json, const results::PairAverages& averages) {
  json.begin_object();
  json.field("runner_a", averages.runner_a);
  json.field("runner_b", averages.runner_b);
  json.key("outputs");
  json.begin_array();
  for (const results::AveragedOutput& output : averages.outputs) {
    json.begin_object();
    json.field("name", output.name);
    json.field("passed", output.passed);
    write_judgements(json, output.judgements);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace assay::report
