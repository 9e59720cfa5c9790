#include "report/inspect/json_sparsity.h"

#include "report/json_parts.h"

namespace assay::report {
namespace {

void write_weight(JsonWriter& json, const results::WeightSparsity& weight) {
  json.begin_object();
  json.field("name", weight.name);
  json.field("dtype", weight.dtype);
  write_numbers(json, "shape", weight.shape);
  json.field("axis", weight.axis);
  json.field("sparse", weight.sparse);
  json.field("zero_fraction", weight.zero_fraction);
  json.field("groups", weight.group_count);
  json.field("bad_groups", weight.bad_group_count);
  if (weight.first_bad.empty()) {
    json.key("first_bad");
    json.null();
  } else {
    write_numbers(json, "first_bad", weight.first_bad);
  }
  json.end_object();
}

}  // namespace

std::string sparsity_json(const results::SparsityReport& report) {
  JsonReport out("inspect sparsity");
  JsonWriter& json = out.json;
  json.field("model", report.path);
  write_list(json, "tensors", report.weights, write_weight);
  json.key("skipped");
  json.begin_array();
  for (const results::SkippedWeight& skipped : report.skipped) {
    json.begin_object();
    json.field("name", skipped.name);
    json.field("reason", skipped.reason);
    json.end_object();
  }
  json.end_array();
  return out.end(report.findings, report.timings);
}

}  // namespace assay::report
