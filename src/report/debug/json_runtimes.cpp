#include "report/debug/json_runtimes.h"

#include "report/json_parts.h"

namespace assay::report {

std::string runtimes_json(const results::RuntimeReport& report) {
  JsonReport out("debug runtimes");
  JsonWriter& json = out.json;
  json.field("model", report.model);
  json.field("backend", report.backend);
  json.field("fails_before", report.fails_before);
  json.field("reproduced", report.is_reproduced);
  json.field("first_bad", report.first_bad);
  json.field("last_good", report.last_good);
  write_list(json, "tried", report.tried, [](JsonWriter& to, const results::TriedRuntime& tried) {
    to.begin_object();
    to.field("environment", tried.environment);
    to.field("good", tried.is_good);
    to.field("reason", tried.reason);
    to.end_object();
  });
  return out.end(report.timings);
}

}  // namespace assay::report
