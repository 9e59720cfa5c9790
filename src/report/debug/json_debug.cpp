#include "report/debug/json_debug.h"

#include "report/json_parts.h"

namespace assay::report {
namespace {

void write_iteration(JsonWriter& json, const results::DebugIteration& iteration) {
  json.begin_object();
  json.field("index", iteration.index);
  json.field("subject", iteration.subject);
  json.field("passed", iteration.passed);
  json.field("replayed", iteration.is_replayed);
  json.field("flaky", iteration.is_flaky);
  json.field("timed_out", iteration.is_late);
  json.field("fault", iteration.fault);
  json.key("status");
  iteration.status ? json.value(*iteration.status) : json.null();
  json.field("seconds", iteration.seconds);
  json.end_object();
}

void write_node(JsonWriter& json, const results::ReducedNode& node) {
  json.begin_object();
  json.field("name", node.name);
  json.field("op", node.op);
  json.end_object();
}

}  // namespace

void write_loop(JsonWriter& json, const results::DebugLoop& loop) {
  json.field("passed_count", loop.passed_count);
  json.field("failed_count", loop.iterations.size() - loop.passed_count - loop.unresolved_count);
  json.field("unresolved_count", loop.unresolved_count);
  write_list(json, "iterations", loop.iterations, write_iteration);
}

std::string debug_json(const results::DebugReport& report) {
  JsonReport out("debug " + report.command);
  if (!report.model.empty()) out.json.field("model", report.model);
  write_loop(out.json, report.loop);
  return out.end(report.timings);
}

std::string reduce_json(const results::ReduceReport& report) {
  JsonReport out("debug reduce");
  JsonWriter& json = out.json;
  json.field("model", report.model);
  json.field("output", report.output);
  json.field("reproduced", report.is_reproduced);
  json.field("confirmed", report.is_confirmed);
  json.field("symptom", report.symptom);
  json.field("original_node_count", report.node_count);
  json.field("node_count", report.nodes.size());
  write_list(json, "nodes", report.nodes, write_node);
  write_texts(json, "inputs", report.inputs);
  write_texts(json, "outputs", report.outputs);
  write_texts(json, "opened", report.opened);
  write_texts(json, "shrunk", report.shrunk);
  write_texts(json, "anonymized", report.anonymized);
  json.key("good_node_count");
  report.good_node_count ? json.value(*report.good_node_count) : json.null();
  json.field("reproducer", report.reproducer);
  write_loop(json, report.loop);
  return out.end(report.timings);
}

}  // namespace assay::report
