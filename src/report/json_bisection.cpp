#include "report/json_bisection.h"

#include "report/json_debug.h"
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
  write_loop(json, report.loop);
  return out.end(report.timings);
}

}  // namespace assay::report
