#include "report/debug/json_ranges.h"

#include "report/json_parts.h"

namespace assay::report {
namespace {

void write_share(JsonWriter& json, std::string_view key, const results::NarrowedShare& share) {
  json.key(key);
  json.begin_object();
  json.field("overflow", share.overflow);
  json.field("denormal", share.denormal);
  json.field("lost", share.lost);
  json.end_object();
}

void write_range(JsonWriter& json, const results::ValueRange& range) {
  json.begin_object();
  json.field("value", range.value);
  json.field("node", range.node);
  json.field("op", range.op);
  json.field("least", range.least);
  json.field("greatest", range.greatest);
  json.field("count", range.count);
  write_share(json, "float16", range.float16);
  write_share(json, "bfloat16", range.bfloat16);
  write_share(json, "int8", range.int8);
  json.end_object();
}

void write_bounds(JsonWriter& json, const results::ValueBounds& bounds) {
  json.begin_object();
  json.field("value", bounds.value);
  json.field("node", bounds.node);
  json.field("op", bounds.op);
  json.field("low", bounds.low);
  json.field("high", bounds.high);
  json.end_object();
}

}  // namespace

std::string ranges_json(const results::RangeReport& report) {
  JsonReport out("debug range");
  out.json.field("model", report.model);
  if (report.is_static)
    write_list(out.json, "bounds", report.bounds, write_bounds);
  else
    write_list(out.json, "values", report.values, write_range);
  return out.end(report.timings);
}

}  // namespace assay::report
