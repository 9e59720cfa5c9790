#include "report/run/json_accuracy.h"

#include "report/json_parts.h"
#include "report/run/json_comparison.h"

namespace assay::report {
namespace {

void write_rejudged(JsonWriter& json, const results::RejudgedPair& pair) {
  json.begin_object();
  json.field("function", pair.function);
  json.field("runner_a", pair.runner_a);
  json.field("runner_b", pair.runner_b);
  json.field("iterations", pair.iterations);
  json.field("passed_iterations", pair.passed);
  json.field("undecided_iterations", pair.undecided);
  write_texts(json, "messages", pair.lines);
  json.end_object();
}

void write_optional(JsonWriter& json, std::string_view key, const std::optional<double>& number) {
  if (number) json.field(key, *number);
}

void write_metrics(JsonWriter& json, const results::SavedMetrics& metrics, const std::string& function) {
  json.begin_object();
  json.field("name", metrics.output);
  json.field("passed", metrics.passed.value_or(false));
  if (function == "simple") {
    json.field("check_error_stat", metrics.statistic);
    json.field("atol", metrics.atol);
    json.field("rtol", metrics.rtol);
    write_optional(json, "max_abs", metrics.absolute[0]);
    write_optional(json, "max_rel", metrics.relative[0]);
    write_optional(json, "mean_abs", metrics.absolute[1]);
    write_optional(json, "mean_rel", metrics.relative[1]);
    write_optional(json, "median_abs", metrics.absolute[2]);
    write_optional(json, "median_rel", metrics.relative[2]);
    write_optional(json, "quantile_abs", metrics.absolute[3]);
    write_optional(json, "quantile_rel", metrics.relative[3]);
  } else if (!function.empty()) {
    json.field("value", metrics.value);
    json.field("threshold", metrics.bound);
  }
  json.end_object();
}

void write_saved_pair(JsonWriter& json, const results::SavedPair& pair, const std::string& function) {
  json.begin_object();
  json.field("function", function);
  json.field("runner_a", pair.runner_a);
  json.field("runner_b", pair.runner_b);
  json.key("iterations");
  json.begin_array();
  for (const std::vector<results::SavedMetrics>& outputs : pair.iterations) {
    json.begin_array();
    for (const results::SavedMetrics& metrics : outputs) write_metrics(json, metrics, function);
    json.end_array();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string accuracy_listing_json(const std::string& path, const results::AccuracyResults& comparisons,
                                  double load_seconds) {
  JsonReport out("inspect data");
  JsonWriter& json = out.json;
  json.field("kind", "accuracy");
  json.field("path", path);
  json.key("pairs");
  json.begin_array();
  for (const results::SavedComparison& comparison : comparisons) {
    for (const results::SavedPair& pair : comparison.pairs) write_saved_pair(json, pair, comparison.function);
  }
  json.end_array();
  return out.end({{"load_seconds", load_seconds}});
}

std::string accuracy_json(const std::string& path, const results::Rejudgement& judged) {
  JsonReport out("check accuracy");
  JsonWriter& json = out.json;
  json.field("path", path);
  json.field("verdict", text(judged.verdict));
  write_list(json, "pairs", judged.pairs, write_rejudged);
  return out.end(judged.timings);
}

}  // namespace assay::report
