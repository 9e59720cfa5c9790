#include "report/debug/json_same.h"

#include "report/json_parts.h"

namespace assay::report {

std::string same_json(const results::SameReport& report) {
  JsonReport out("debug same");
  JsonWriter& json = out.json;
  json.field("model", report.model);
  json.field("backend", report.backend);
  json.field("runs", report.runs);
  json.field("value_count", report.value_count);
  write_list(json, "differences", report.differences, [](JsonWriter& to, const results::SameDifference& difference) {
    to.begin_object();
    to.field("value", difference.value);
    to.field("node", difference.node);
    to.field("op", difference.op);
    to.field("run", difference.run);
    to.field("threads", static_cast<uint64_t>(difference.threads));
    to.end_object();
  });
  return out.end(report.timings);
}

}  // namespace assay::report
