#include "report/debug/json_bisection.h"

#include "report/debug/json_debug.h"
#include "report/json_parts.h"

namespace assay::report {

std::string bisection_json(const results::BisectionReport& report) {
  JsonReport out("debug bisect");
  JsonWriter& json = out.json;
  json.field("model", report.model);
  json.field("step_count", report.step_count);
  json.field("fails_before", report.fails_before);
  json.field("reproduced", report.is_reproduced);
  json.key("step");
  report.is_reproduced ? json.value(report.step) : json.null();
  json.field("explanation", report.explanation);
  json.field("output", report.output);
  json.field("good_output", report.good_output);
  json.field("reduced", report.reduced);
  write_list(json, "nodes", report.nodes, [](JsonWriter& to, const results::ReducedNode& node) {
    to.begin_object();
    to.field("name", node.name);
    to.field("op", node.op);
    to.end_object();
  });
  write_loop(json, report.loop);
  return out.end(report.timings);
}

std::string tactics_json(const results::TacticReport& report) {
  JsonReport out("debug tactics");
  JsonWriter& json = out.json;
  json.field("model", report.model);
  json.field("different_count", report.different_count);
  json.field("fails_before", report.fails_before);
  json.field("reproduced", report.is_reproduced);
  write_list(json, "guilty", report.guilty, [](JsonWriter& to, const results::GuiltyTactic& tactic) {
    to.begin_object();
    to.field("layer", tactic.layer);
    to.field("bad", tactic.bad);
    to.field("good", tactic.good);
    to.end_object();
  });
  write_loop(json, report.loop);
  return out.end(report.timings);
}

}  // namespace assay::report
