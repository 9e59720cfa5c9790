#include "report/json_accuracy.h"

#include "report/json_comparison.h"
#include "report/json_model.h"

namespace assay::report {
namespace {

void write_pair(JsonWriter& json, const results::RejudgedPair& pair) {
  json.begin_object();
  json.field("function", pair.function);
  json.field("runner_a", pair.runner_a);
  json.field("runner_b", pair.runner_b);
  json.field("iterations", pair.iterations);
  json.field("passed_iterations", pair.passed);
  json.field("undecided_iterations", pair.undecided);
  json.key("messages");
  json.begin_array();
  for (const std::string& line : pair.lines) json.value(line);
  json.end_array();
  json.end_object();
}

}  // namespace

std::string accuracy_json(const std::string& path, const results::Rejudgement& judged) {
  JsonWriter json;
  json.begin_object();
  json.field("schema", "assay/check-accuracy/1");
  json.field("path", path);
  json.field("verdict", text(judged.verdict));
  json.key("pairs");
  json.begin_array();
  for (const results::RejudgedPair& pair : judged.pairs) write_pair(json, pair);
  json.end_array();
  json.key("timings");
  write_timings(json, judged.timings);
  json.end_object();
  return json.text();
}

}  // namespace assay::report
