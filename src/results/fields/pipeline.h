#pragma once

#include "results/fields/comparison.h"
#include "results/pipeline.h"

namespace assay::results {

template <>
struct Fields<StageReport> {
  static void of(auto& v, auto& stage) {
    v("name", stage.name);
    v("model", stage.run.model);
    v.word("verdict", stage.run.verdict, kVerdictWords);
    v("runs", stage.run.runs);
    v("pairs", stage.run.pairs);
    v.word("chained_verdict", stage.chained_verdict, kVerdictWords);
    v("chained", stage.chained);
    v("findings", stage.run.findings);
  }
};

template <>
struct Fields<PipelineReport> {
  static constexpr std::string_view kCommand = "run pipeline";
  static void of(auto& v, auto& report) {
    v("path", report.path);
    v.word("verdict", report.verdict, kVerdictWords);
    v("first_guilty", report.first_guilty);
    v.some("inputs", report.inputs);
    v.some("command", report.command);
    v("stages", report.stages);
    v("timings", report.timings);
  }
};

}  // namespace assay::results
