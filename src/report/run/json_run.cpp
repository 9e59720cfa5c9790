#include "report/run/json_run.h"

#include "report/json_parts.h"
#include "report/run/json_comparison.h"
#include "report/run/json_stats.h"

namespace assay::report {
namespace {

void write_values(JsonWriter& json, std::string_view key, const std::vector<results::RunValue>& values) {
  json.key(key);
  json.begin_array();
  for (const results::RunValue& value : values) {
    json.begin_object();
    json.field("name", value.name);
    json.field("dtype", value.type);
    if (value.is_tensor) write_numbers(json, "shape", value.shape);
    if (value.stats) {
      json.key("stats");
      write_stats(json, *value.stats);
    }
    json.end_object();
  }
  json.end_array();
}

void write_answer(JsonWriter& json, const results::ValueAnswer& answer) {
  json.begin_object();
  json.field("name", answer.name);
  json.field("answer", answer.is_absent ? "absent" : "recomputed");
  json.field("layer", answer.layer);
  if (!answer.reason.empty()) json.field("reason", answer.reason);
  json.end_object();
}

void write_run(JsonWriter& json, const results::RunnerRun& run) {
  json.begin_object();
  json.field("runner", run.runner);
  json.field("iterations", run.iterations);
  write_values(json, "inputs", run.inputs);
  write_values(json, "outputs", run.outputs);
  if (!run.failure.empty()) json.field("failure", run.failure);
  if (!run.remedy.empty()) json.field("remedy", run.remedy);
  if (!run.answers.empty()) write_list(json, "answers", run.answers, write_answer);
  json.key("timings");
  write_timings(json, {{"load_seconds", run.load_seconds}, {"run_seconds", run.run_seconds}});
  json.end_object();
}

void write_validated(JsonWriter& json, const results::ValidatedOutput& output) {
  json.begin_object();
  json.field("runner", output.runner);
  json.field("iteration", output.iteration);
  json.field("name", output.name);
  json.field("passed", output.nan_count + output.inf_count == 0);
  json.field("nan_count", output.nan_count);
  json.field("inf_count", output.inf_count);
  write_index(json, "first_nan_index", output.first_nan_at);
  write_index(json, "first_inf_index", output.first_inf_at);
  json.end_object();
}

}  // namespace

std::string data_diff_json(const results::RunReport& report) {
  JsonReport out("inspect diff");
  JsonWriter& json = out.json;
  json.field("kind", "data");
  json.field("equal", report.verdict == results::Verdict::equal);
  json.field("verdict", text(report.verdict));
  write_list(json, "pairs", report.pairs, write_pair);
  return out.end(report.timings);
}

std::string run_json(const results::RunReport& report) {
  JsonReport out("run");
  JsonWriter& json = out.json;
  json.field("model", report.model);
  json.field("verdict", text(report.verdict));
  write_list(json, "runs", report.runs, write_run);
  write_list(json, "pairs", report.pairs, write_pair);
  if (!report.averages.empty()) write_list(json, "averages", report.averages, write_averages);
  if (!report.validated.empty()) write_list(json, "validated", report.validated, write_validated);
  return out.end(report.findings, report.timings);
}

}  // namespace assay::report
