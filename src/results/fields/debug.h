#pragma once

#include <optional>

#include "results/bisection.h"
#include "results/culprit.h"
#include "results/debug.h"
#include "results/fields/fields.h"
#include "results/precision.h"
#include "results/runtimes.h"
#include "results/same.h"
#include "results/value_ranges.h"

namespace assay::results {

void describe_verdict(auto& v, auto& error) {
  v("node", error.node);
  v("op", error.op);
  v("value", error.value);
  v("side", error.side);
  v("introduced", error.introduced);
  v("inherited", error.inherited);
  v("total", error.total);
  v("tolerance", error.tolerance);
  v("excess", error.excess);
  v("magnitude", error.magnitude);
  v("failed_count", error.failed_count);
  v("count", error.count);
  v("group", error.group);
}

template <>
struct Fields<LayerVerdict> {
  static void of(auto& v, auto& error) {
    v("index", error.index);
    describe_verdict(v, error);
  }
};

template <>
struct Fields<InnerCulprit> {
  static void of(auto& v, auto& culprit) {
    describe_verdict(v, culprit.error);
    v("cause", culprit.cause);
    v("reason", culprit.reason);
  }
};

template <>
struct Fields<Culprit> {
  static void of(auto& v, auto& culprit) {
    describe_verdict(v, culprit.error);
    v("cause", culprit.cause);
    v("reason", culprit.reason);
    v("in_both_models", culprit.is_in_both);
    v("share_of_output", culprit.share_of_output);
    v("inner", culprit.inner);
  }
};

template <>
struct Fields<AccuracySide> {
  static void of(auto& v, auto& side) {
    v("name", side.name);
    v("output_error", side.output_error);
    v("output_magnitude", side.output_magnitude);
    v("values", side.given_count);
    v("probe_effect", side.probe_effect);
    v("deterministic", side.is_deterministic);
  }
};

template <>
struct Fields<LayerMatches> {
  static void of(auto& v, auto& matches) {
    v("by_name", matches.by_name);
    v("by_structure", matches.by_structure);
    v("unmatched", matches.unmatched);
  }
};

template <>
struct Fields<Remedy> {
  static void of(auto& v, auto& remedy) {
    v("text", remedy.text);
    v("error_before", remedy.error_before);
    v("error_after", remedy.error_after);
    v("cures", remedy.cures);
    v("helps", remedy.helps);
  }
};

template <>
struct Fields<LayerCost> {
  static void of(auto& v, auto& cost) {
    v("node", cost.node);
    v("op", cost.op);
    v("introduced", cost.introduced);
    v("output_error", cost.output_error);
  }
};

template <>
struct Fields<AccuracyHunt> {
  static constexpr std::string_view kCommand = "debug accuracy";
  static void of(auto& v, auto& hunt) {
    v("model", hunt.model);
    v("layer_count", hunt.layer_count);
    v.told("first_guilty", hunt.culprits.empty() ? std::nullopt : std::optional(hunt.culprits.front()));
    v("guilty", hunt.culprits);
    v("harmless", hunt.harmless);
    v("doubt", hunt.doubt);
    v("sides", hunt.sides);
    v("matches", hunt.matches);
    v("remedies", hunt.remedies);
    v("costs", hunt.costs);
    v("layers", hunt.layers);
    v("timings", hunt.timings);
  }
};

template <>
struct Fields<ReducedNode> {
  static void of(auto& v, auto& node) {
    v("name", node.name);
    v("op", node.op);
  }
};

template <>
struct Fields<DebugIteration> {
  static void of(auto& v, auto& iteration) {
    v("index", iteration.index);
    v("subject", iteration.subject);
    v("passed", iteration.passed);
    v("replayed", iteration.is_replayed);
    v("flaky", iteration.is_flaky);
    v("timed_out", iteration.is_late);
    v("fault", iteration.fault);
    v("status", iteration.status);
    v("seconds", iteration.seconds);
  }
};

void describe_loop(auto& v, auto& loop) {
  v("passed_count", loop.passed_count);
  v.told("failed_count", loop.iterations.size() - loop.passed_count - loop.unresolved_count);
  v("unresolved_count", loop.unresolved_count);
  v("iterations", loop.iterations);
}

template <>
struct Fields<DebugReport> {
  static void of(auto& v, auto& report) {
    v.command(report.command);
    v.some("model", report.model);
    describe_loop(v, report.loop);
    v("timings", report.timings);
  }
};

template <>
struct Fields<ReduceReport> {
  static constexpr std::string_view kCommand = "debug reduce";
  static void of(auto& v, auto& report) {
    v("model", report.model);
    v("output", report.output);
    v("reproduced", report.is_reproduced);
    v("confirmed", report.is_confirmed);
    v("symptom", report.symptom);
    v("original_node_count", report.node_count);
    v.told("node_count", report.nodes.size());
    v("nodes", report.nodes);
    v("inputs", report.inputs);
    v("outputs", report.outputs);
    v("opened", report.opened);
    v("shrunk", report.shrunk);
    v("anonymized", report.anonymized);
    v("good_node_count", report.good_node_count);
    v("reproducer", report.reproducer);
    describe_loop(v, report.loop);
    v("timings", report.timings);
  }
};

template <>
struct Fields<BisectionReport> {
  static constexpr std::string_view kCommand = "debug bisect";
  static void of(auto& v, auto& report) {
    v("model", report.model);
    v("step_count", report.step_count);
    v("fails_before", report.fails_before);
    v("reproduced", report.is_reproduced);
    v.or_null(report.is_reproduced, "step", report.step);
    v("explanation", report.explanation);
    v("output", report.output);
    v("good_output", report.good_output);
    v("reduced", report.reduced);
    v("nodes", report.nodes);
    v("steps", report.steps);
    describe_loop(v, report.loop);
    v("timings", report.timings);
  }
};

template <>
struct Fields<TriedRuntime> {
  static void of(auto& v, auto& tried) {
    v("environment", tried.environment);
    v("good", tried.is_good);
    v("reason", tried.reason);
  }
};

template <>
struct Fields<RuntimeReport> {
  static constexpr std::string_view kCommand = "debug runtimes";
  static void of(auto& v, auto& report) {
    v("model", report.model);
    v("backend", report.backend);
    v("fails_before", report.fails_before);
    v("reproduced", report.is_reproduced);
    v("first_bad", report.first_bad);
    v("last_good", report.last_good);
    v("tried", report.tried);
    v("timings", report.timings);
  }
};

template <>
struct Fields<GuiltyTactic> {
  static void of(auto& v, auto& tactic) {
    v("layer", tactic.layer);
    v("bad", tactic.bad);
    v("good", tactic.good);
  }
};

template <>
struct Fields<TacticReport> {
  static constexpr std::string_view kCommand = "debug tactics";
  static void of(auto& v, auto& report) {
    v("model", report.model);
    v("different_count", report.different_count);
    v("fails_before", report.fails_before);
    v("reproduced", report.is_reproduced);
    v("guilty", report.guilty);
    describe_loop(v, report.loop);
    v("timings", report.timings);
  }
};

template <>
struct Fields<PrecisionReport> {
  static constexpr std::string_view kCommand = "debug precision";
  static void of(auto& v, auto& report) {
    v("model", report.model);
    v("low", report.low);
    v("direction", report.direction);
    v("layer_count", report.layer_count);
    v("found", report.is_found);
    v("kept", report.kept);
    v("unconverted", report.unconverted);
    v("converted_count", report.converted_count);
    v("output", report.output);
    describe_loop(v, report.loop);
    v("timings", report.timings);
  }
};

template <>
struct Fields<NarrowedShare> {
  static void of(auto& v, auto& share) {
    v("overflow", share.overflow);
    v("denormal", share.denormal);
    v("lost", share.lost);
  }
};

template <>
struct Fields<ValueRange> {
  static void of(auto& v, auto& range) {
    v("value", range.value);
    v("node", range.node);
    v("op", range.op);
    v("least", range.least);
    v("greatest", range.greatest);
    v("count", range.count);
    v("float16", range.float16);
    v("bfloat16", range.bfloat16);
    v("int8", range.int8);
  }
};

template <>
struct Fields<ValueBounds> {
  static void of(auto& v, auto& bounds) {
    v("value", bounds.value);
    v("node", bounds.node);
    v("op", bounds.op);
    v("low", bounds.low);
    v("high", bounds.high);
  }
};

template <>
struct Fields<RangeReport> {
  static constexpr std::string_view kCommand = "debug range";
  static void of(auto& v, auto& report) {
    v("model", report.model);
    v.marked(report.is_static, "bounds", report.bounds);
    v.when(!report.is_static, "values", report.values);
    v("timings", report.timings);
  }
};

template <>
struct Fields<SameDifference> {
  static void of(auto& v, auto& difference) {
    v("value", difference.value);
    v("node", difference.node);
    v("op", difference.op);
    v("run", difference.run);
    v("threads", difference.threads);
  }
};

template <>
struct Fields<SameReport> {
  static constexpr std::string_view kCommand = "debug same";
  static void of(auto& v, auto& report) {
    v("model", report.model);
    v("backend", report.backend);
    v("runs", report.runs);
    v("value_count", report.value_count);
    v("differences", report.differences);
    v("timings", report.timings);
  }
};

}  // namespace assay::results
