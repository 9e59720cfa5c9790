#pragma once

#include "compare/options.h"
#include "results/accuracy_results.h"

namespace assay::compare {

// The new thresholds from the user; for the others, the stored ones apply.
struct NewThresholds {
  const CompareOptions& options;
  bool has_functions = false;  // only those of the options are judged
  bool has_atol = false;
  bool has_rtol = false;
  bool has_statistic = false;
  bool has_bound[4] = {};  // l2, cosine_similarity, psnr, snr
};

// Fills in the verdicts that the stored thresholds give.
void settle(results::AccuracyResults& saved);

// Judges saved metrics again. Elementwise verdicts can be rebuilt only if the greatest differences decide, or if the
// stored verdict implies the new one; otherwise the output is undecided. Error (usage) for a function that is not
// stored.
results::Rejudgement rejudge(const results::AccuracyResults& saved, const NewThresholds& thresholds);

}  // namespace assay::compare
