#pragma once

#include "results/fields/fields.h"
#include "results/sweep.h"

namespace assay::results {

template <>
struct Fields<UnitDifference> {
  static void of(auto& v, auto& difference) {
    v("compared", difference.compared);
    v("failed", difference.failed);
    v("max_abs", difference.max_abs);
    v("max_rel", difference.max_rel);
    v("least_cosine", difference.least_cosine);
    v("sample", difference.sample);
    v("output", difference.output);
    v("op", difference.op);
    v("bins", difference.bins);
  }
};

template <>
struct Fields<SweepUnit> {
  static void of(auto& v, auto& unit) {
    v("key", unit.key);
    v("model", unit.model);
    v("variant", unit.variant);
    v("side", unit.side);
    v("shard", unit.shard);
    v.word("status", unit.status, kUnitStatuses);
    v("signature", unit.signature);
    v("metrics", unit.metrics);
    v("seconds", unit.seconds);
    v("samples", unit.samples);
    v("first_sample", unit.first_sample);
    v.some("reason", unit.reason);
    v.some("difference", unit.difference);
    v.some("worst_sample", unit.worst_sample);
    v.some("worst_file", unit.worst_file);
    v.detail("evidence", unit.evidence);
  }
};

template <>
struct Fields<JournalHead> {
  static void of(auto& v, auto& head) {
    v("schema", head.schema);
    v("version", head.version);
  }
};

template <>
struct Fields<PlannedModel> {
  static void of(auto& v, auto& model) {
    v("path", model.path);
    v("digest", model.digest);
  }
};

template <>
struct Fields<PlannedColumn> {
  static void of(auto& v, auto& column) {
    v("variant", column.variant);
    v("side", column.side);
    v("version", column.version);
  }
};

template <>
struct Fields<PlannedShard> {
  static void of(auto& v, auto& shard) {
    v("begin", shard.begin);
    v("end", shard.end);
    v("digest", shard.digest);
    v("failure", shard.failure);
  }
};

template <>
struct Fields<SweepPlan> {
  static void of(auto& v, auto& plan) {
    v("schema", plan.schema);
    v("version", plan.version);
    v("folder", plan.folder);
    v("words", plan.words);
    v("options", plan.options);
    v("machine", plan.machine);
    v("data", plan.data);
    v("share", plan.share);
    v("metrics", plan.metrics);
    v("models", plan.models);
    v("columns", plan.columns);
    v("shards", plan.shards);
    v("files", plan.files);
    v("labels", plan.labels);
  }
};

template <>
struct Fields<SweepCause> {
  static void of(auto& v, auto& cause) {
    v("signature", cause.signature);
    v("count", cause.count);
    v("models", cause.models);
    v.word("status", cause.status, kUnitStatuses);
    v("example", cause.example);
  }
};

template <>
struct Fields<SweepRow> {
  static void of(auto& v, auto& row) {
    v("model", row.model);
    v("variant", row.variant);
    v("side", row.side);
    v.word("status", row.status, kUnitStatuses);
    v("unit_count", row.unit_count);
    v("done_count", row.done_count);
    v("samples", row.samples);
    v("seconds", row.seconds);
    v.some("difference", row.difference);
  }
};

template <>
struct Fields<PairedScore> {
  static void of(auto& v, auto& paired) {
    v("variant", paired.variant);
    v("side", paired.side);
    v("difference", paired.difference);
    v("low", paired.low);
    v("high", paired.high);
    v("p_value", paired.p_value);
  }
};

template <>
struct Fields<SweepScore> {
  static void of(auto& v, auto& score) {
    v("name", score.name);
    v("model", score.model);
    v("variant", score.variant);
    v("side", score.side);
    v("samples", score.samples);
    v("value", score.value);
    v("low", score.low);
    v("high", score.high);
    v("paired", score.paired);
  }
};

template <>
struct Fields<SweepWorst> {
  static void of(auto& v, auto& worst) {
    v("model", worst.model);
    v("variant", worst.variant);
    v("side", worst.side);
    v("sample", worst.sample);
    v("output", worst.output);
    v("max_abs", worst.max_abs);
    v("file", worst.file);
    v("command", worst.command);
  }
};

template <>
struct Fields<SweepChange> {
  static void of(auto& v, auto& change) {
    v("model", change.model);
    v("variant", change.variant);
    v("side", change.side);
    v("what", change.what);
    v("before", change.before);
    v("after", change.after);
    v("is_worse", change.is_worse);
  }
};

template <>
struct Fields<SweepReport> {
  static constexpr std::string_view kCommand = "sweep report";
  static void of(auto& v, auto& report) {
    v("folder", report.folder);
    v("unit_count", report.unit_count);
    v("pending_count", report.pending_count);
    v("torn_lines", report.torn_lines);
    v("units", report.units);
    v("by_status", report.by_status);
    v("rows", report.rows);
    v("causes", report.causes);
    v("metrics", report.metrics);
    v("worst", report.worst);
    v.some("against", report.against);
    v.when(!report.against.empty(), "changes", report.changes);
    v("timings", report.timings);
  }
};

template <>
struct Fields<SweepStatus> {
  static constexpr std::string_view kCommand = "sweep status";
  static void of(auto& v, auto& status) {
    v("folder", status.folder);
    v("running", status.is_running);
    v("unit_count", status.unit_count);
    v("done_count", status.done_count);
    v("pending_count", status.pending_count);
    v("torn_lines", status.torn_lines);
    v("unit_seconds", status.unit_seconds);
    v("by_status", status.by_status);
    v("timings", status.timings);
  }
};

}  // namespace assay::results
