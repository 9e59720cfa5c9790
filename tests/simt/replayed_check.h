#pragma once

#include "simt/layer_check.h"

namespace assay::testing_support {

// Expects a model of two layers, of which that of z has this tactic, to give what the reference gives, and the same
// again in each run.
inline void check_replayed(const std::string& text, const std::string& tactic, double tolerance) {
  engine::ProgramOptions options;
  options.tactics.replayed = {{"z", tactic}};
  const OnCard model(text, options);
  const std::vector<std::string> tactics = model.tactics();
  EXPECT_EQ(std::ranges::count(tactics, tactic), 1) << tactic << ": " << tactics.front();
  EXPECT_EQ(tactics.size(), 2U);
  engine::Context context(model.program(), {}, false);
  const auto first = model.run(context);
  EXPECT_EQ(difference(first, model.expected(), tolerance), "") << tactic;
  for (int run = 0; run < 2; ++run) EXPECT_EQ(difference(model.run(context), first, 0), "") << tactic;
}

}  // namespace assay::testing_support
