#include "report/run/json_stats.h"

#include "report/json_parts.h"

namespace assay::report {
namespace {

void write_histogram(JsonWriter& json, const results::Histogram& histogram) {
  json.begin_object();
  json.key("edges");
  json.begin_array();
  for (const double edge : histogram.edges) json.value(edge);
  json.end_array();
  json.key("counts");
  json.begin_array();
  for (const uint64_t count : histogram.counts) json.value(count);
  json.end_array();
  json.end_object();
}

}  // namespace

void write_stats(JsonWriter& json, const results::TensorStats& stats) {
  json.begin_object();
  json.field("count", stats.count);
  json.field("mean", stats.mean);
  json.field("std_dev", stats.standard_deviation);
  json.field("variance", stats.variance);
  if (stats.percentiles) {
    json.field("median", stats.percentiles->median);
    json.field("p90", stats.percentiles->p90);
    json.field("p95", stats.percentiles->p95);
    json.field("p99", stats.percentiles->p99);
  }
  json.field("min", stats.least);
  write_numbers(json, "min_at", stats.least_at);
  json.field("max", stats.greatest);
  write_numbers(json, "max_at", stats.greatest_at);
  json.field("mean_magnitude", stats.mean_magnitude);
  json.field("nan_count", stats.nan_count);
  json.field("inf_count", stats.inf_count);
  if (stats.histogram) {
    json.key("histogram");
    write_histogram(json, *stats.histogram);
  }
  json.end_object();
}

}  // namespace assay::report
