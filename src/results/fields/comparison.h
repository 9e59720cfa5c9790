#pragma once

#include "results/accuracy_results.h"
#include "results/comparison.h"
#include "results/fields/findings.h"
#include "results/run_report.h"

namespace assay::results {

inline constexpr std::string_view kVerdictWords[] = {"passed", "failed", "undecided"};
inline constexpr std::string_view kAnswerWords[] = {"recomputed", "absent"};

template <>
struct Fields<Histogram> {
  static void of(auto& v, auto& histogram) {
    v("edges", histogram.edges);
    v("counts", histogram.counts);
  }
};

template <>
struct Fields<Percentiles> {
  static void of(auto& v, auto& percentiles) {
    v("median", percentiles.median);
    v("p90", percentiles.p90);
    v("p95", percentiles.p95);
    v("p99", percentiles.p99);
  }
};

template <>
struct Fields<TensorStats> {
  static void of(auto& v, auto& stats) {
    v("count", stats.count);
    v("mean", stats.mean);
    v("std_dev", stats.standard_deviation);
    v("variance", stats.variance);
    v.inlined("median", stats.percentiles);
    v("min", stats.least);
    v("min_at", stats.least_at);
    v("max", stats.greatest);
    v("max_at", stats.greatest_at);
    v("mean_magnitude", stats.mean_magnitude);
    v("nan_count", stats.nan_count);
    v("inf_count", stats.inf_count);
    v.some("histogram", stats.histogram);
  }
};

template <>
struct Fields<PairMetrics> {
  static void of(auto& v, auto& metrics) {
    v("count", metrics.count);
    v("max_abs", metrics.absolute.greatest);
    v("max_rel", metrics.relative.greatest);
    v("mean_abs", metrics.absolute.mean);
    v("mean_rel", metrics.relative.mean);
    median(v, "median_abs", metrics.absolute);
    median(v, "median_rel", metrics.relative);
    v("quantile_abs", metrics.quantile_absolute);
    v("quantile_rel", metrics.quantile_relative);
    v("max_ulp", metrics.max_ulp);
    v("l2", metrics.l2);
    v("cosine", metrics.cosine);
    v("psnr_db", metrics.psnr_db);
    v("snr_db", metrics.snr_db);
    v.some("kl_divergence", metrics.divergence);
    v("failed_count", metrics.failed_count);
    v("first_failed_index", metrics.first_failed_at);
    v("worst_index", metrics.worst_at);
    v.told("nan_count", std::vector{metrics.a.nan_count, metrics.b.nan_count});
    v.told("inf_count", std::vector{metrics.a.inf_count, metrics.b.inf_count});
    v("a", metrics.a);
    v("b", metrics.b);
  }

 private:
  // Null where they were not sorted.
  static void median(auto& v, std::string_view key, auto& stats) {
    std::optional<double> number = stats.percentiles ? std::optional(stats.percentiles->median) : std::nullopt;
    v.told(key, number, number);
    if constexpr (requires { stats.percentiles.emplace(); }) {
      if (number) stats.percentiles.emplace().median = *number;
    }
  }
};

template <>
struct Fields<Judgement> {
  static void of(auto& v, auto& judgement) {
    v("function", judgement.function);
    v("passed", judgement.passed);
    v.some("unequal_strings", judgement.unequal_strings);
    const bool is_of_strings = judgement.unequal_strings.has_value();
    const bool is_simple = !is_of_strings && judgement.function == "simple";
    v.when(is_simple, "check_error_stat", judgement.statistic);
    v.when(is_simple, "atol", judgement.atol);
    v.when(is_simple, "rtol", judgement.rtol);
    v.when(is_simple && judgement.statistic == "quantile", "quantile", judgement.quantile);
    v.when((is_of_strings || is_simple) && judgement.allowed_share > 0, "allowed_share", judgement.allowed_share);
    v.when(is_simple, "required_abs", judgement.required_abs);
    v.when(is_simple, "required_rel", judgement.required_rel);
    v.when(!is_of_strings && !is_simple, "value", judgement.value);
    v.when(!is_of_strings && !is_simple, "threshold", judgement.bound);
  }
};

template <>
struct Fields<OutputComparison> {
  static void of(auto& v, auto& output) {
    v("name", output.name_a);
    v("name_b", output.name_b);
    v("passed", output.passed);
    v("dtype", output.dtype_a);
    v("dtype_b", output.dtype_b);
    v("shape", output.shape_a);
    v("shape_b", output.shape_b);
    v.some("fault", output.fault);
    v.some("shape_note", output.shape_note);
    v.some("matched_by", output.match);
    v.some("tolerance_reason", output.tolerance_reason);
    v("thresholds", output.judgements);
    v.inlined("count", output.metrics);
  }
};

template <>
struct Fields<IterationComparison> {
  static void of(auto& v, auto& iteration) {
    v("index", iteration.index);
    v("passed", iteration.passed);
    v("outputs", iteration.outputs);
    v("missing", iteration.missing);
    v("extra", iteration.extra);
    v("unpaired", iteration.unpaired);
  }
};

template <>
struct Fields<PairComparison> {
  static void of(auto& v, auto& pair) {
    v("runner_a", pair.runner_a);
    v("runner_b", pair.runner_b);
    v.word("verdict", pair.verdict, kVerdictWords);
    v.told("passed", pair.verdict == Verdict::equal);
    v("passed_iterations", pair.passed_count);
    v("iterations_a", pair.iterations_a);
    v("iterations_b", pair.iterations_b);
    v("stopped_early", pair.stopped);
    v("first_failed", pair.first_failed);
    v("iterations", pair.iterations);
  }
};

template <>
struct Fields<RunValue> {
  static void of(auto& v, auto& value) {
    v("name", value.name);
    v("dtype", value.type);
    v.marked(value.is_tensor, "shape", value.shape);
    v.some("stats", value.stats);
  }
};

template <>
struct Fields<ValueAnswer> {
  static void of(auto& v, auto& answer) {
    v("name", answer.name);
    v.word("answer", answer.is_absent, kAnswerWords);
    v("layer", answer.layer);
    v.some("reason", answer.reason);
  }
};

template <>
struct Fields<AssignedNode> {
  static void of(auto& v, auto& node) {
    v("provider", node.provider);
    v("node", node.node);
    v("op", node.op);
  }
};

template <>
struct Fields<RunnerRun> {
  static void of(auto& v, auto& run) {
    v("runner", run.runner);
    v("iterations", run.iterations);
    v("inputs", run.inputs);
    v("outputs", run.outputs);
    v.some("failure", run.failure);
    v.some("remedy", run.remedy);
    v.some("answers", run.answers);
    v.some("assignment", run.assignment);
    v.part("timings", [&](auto& part) {
      part("load_seconds", run.load_seconds);
      part("run_seconds", run.run_seconds);
    });
  }
};

template <>
struct Fields<AveragedOutput> {
  static void of(auto& v, auto& output) {
    v("name", output.name);
    v("passed", output.passed);
    v("thresholds", output.judgements);
  }
};

template <>
struct Fields<PairAverages> {
  static void of(auto& v, auto& averages) {
    v("runner_a", averages.runner_a);
    v("runner_b", averages.runner_b);
    v("outputs", averages.outputs);
  }
};

template <>
struct Fields<ValidatedOutput> {
  static void of(auto& v, auto& output) {
    v("runner", output.runner);
    v("iteration", output.iteration);
    v("name", output.name);
    v.told("passed", output.nan_count + output.inf_count == 0);
    v("nan_count", output.nan_count);
    v("inf_count", output.inf_count);
    v("first_nan_index", output.first_nan_at);
    v("first_inf_index", output.first_inf_at);
  }
};

template <>
struct Fields<FeedRule> {
  static void of(auto& v, auto& feed) {
    v("input", feed.input);
    v.some("output", feed.output);
    v("rule", feed.rule);
    v("origin", feed.origin);
  }
};

template <>
struct Fields<StepSide> {
  static void of(auto& v, auto& side) {
    v("runner", side.runner);
    v("same_context", side.same_context);
    v("top1_same", side.top1_same);
    v("kl", side.kl);
    v("max_abs", side.max_abs);
    v("cache_max_abs", side.cache_max_abs);
    v("cache_relative", side.cache_relative);
    v.some("worst_cache", side.worst_cache);
  }
};

template <>
struct Fields<GenerationStep> {
  static void of(auto& v, auto& step) {
    v("step", step.step);
    v("position", step.position);
    v("row", step.row);
    v("token", step.token);
    v("kl", step.kl);
    v("top1_same", step.top1_same);
    v("sides", step.sides);
    v("seconds", step.seconds);
  }
};

template <>
struct Fields<GenerationDivergence> {
  static void of(auto& v, auto& divergence) {
    v("step", divergence.step);
    v("position", divergence.position);
    v("row", divergence.row);
    v("runner_a", divergence.runner_a);
    v("runner_b", divergence.runner_b);
    v("token_a", divergence.token_a);
    v("token_b", divergence.token_b);
    v("kl", divergence.kl);
    v("cache_relative", divergence.cache_relative);
    v.some("inputs", divergence.inputs);
    v.some("command", divergence.command);
  }
};

template <>
struct Fields<Generation> {
  static void of(auto& v, auto& generation) {
    v("steps", generation.steps);
    v("first_divergence", generation.first_divergence);
    v("prompt_tokens", generation.prompt_tokens);
    v("rows", generation.rows);
    v.some("teacher", generation.teacher);
    v("feeds", generation.feeds);
    v("kept", generation.kept);
  }
};

template <>
struct Fields<RunReport> {
  static constexpr std::string_view kCommand = "run";
  static void of(auto& v, auto& report) {
    v("model", report.model);
    v.word("verdict", report.verdict, kVerdictWords);
    v("runs", report.runs);
    v("pairs", report.pairs);
    v.some("averages", report.averages);
    v.some("validated", report.validated);
    v.inlined("steps", report.generation);
    v("findings", report.findings);
    v("timings", report.timings);
  }
};

template <>
struct Fields<DataDifference> {
  static constexpr std::string_view kCommand = "inspect diff";
  static void of(auto& v, auto& report) {
    v.told("kind", std::string_view("data"));
    v.told("equal", report.verdict == Verdict::equal);
    v.word("verdict", report.verdict, kVerdictWords);
    v("pairs", report.pairs);
    v("timings", report.timings);
  }
};

template <>
struct Fields<RejudgedPair> {
  static void of(auto& v, auto& pair) {
    v("function", pair.function);
    v("runner_a", pair.runner_a);
    v("runner_b", pair.runner_b);
    v("iterations", pair.iterations);
    v("passed_iterations", pair.passed);
    v("undecided_iterations", pair.undecided);
    v("messages", pair.lines);
  }
};

template <>
struct Fields<Rejudgement> {
  static constexpr std::string_view kCommand = "check accuracy";
  static void of(auto& v, auto& judged) {
    v("path", judged.path);
    v.word("verdict", judged.verdict, kVerdictWords);
    v("pairs", judged.pairs);
    v("timings", judged.timings);
  }
};

}  // namespace assay::results
