#pragma once

#include <string>
#include <vector>

#include "results/run_report.h"

namespace assay::results {

// One model of a pipeline.
struct StageReport {
  std::string name;
  RunReport run;                        // all sides on what the first side gave the stage
  std::vector<PairComparison> chained;  // each other side on what it gave the stage itself, beside the first
  Verdict chained_verdict = Verdict::equal;
};

// Several models, each fed by outputs of those before.
struct PipelineReport {
  std::string path;
  std::vector<StageReport> stages;
  std::string first_guilty;  // the first stage that differs on the same inputs; empty: none
  std::string inputs;        // file that has its inputs; empty: not saved
  std::string command;       // that looks for the layer; empty: there is none
  Verdict verdict = Verdict::equal;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
