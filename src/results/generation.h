#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::results {

// The source of an input of the steps after the first.
struct FeedRule {
  std::string input;
  std::string output;  // that becomes it; empty: it is made anew
  std::string rule;    // `token`, `cache`, `mask`, ..., as docs/generations.md lists them
  std::string origin;  // evidence for the rule: `name`, `graph`, `shape`, `given`
};

// One side at a step, beside the first one.
struct StepSide {
  std::string runner;
  bool same_context = true;                   // has read the same tokens so far: numbers can be compared
  bool top1_same = true;                      // in all rows
  std::optional<double> kl = {};              // of its next token from the first side's, in nats; greatest of all rows
  std::optional<double> max_abs = {};         // of the logits
  std::optional<double> cache_max_abs = {};   // of what the step wrote into the caches
  std::optional<double> cache_relative = {};  // norm of the difference beside that of the first side's
  std::string worst_cache = {};
};

struct GenerationStep {
  uint64_t step = 0;
  uint64_t position = 0;       // of the last token that was read
  uint64_t row = 0;            // of the batch: the first in which sides differ
  std::vector<int64_t> token;  // of that row, for each run; -1: it has failed, or there are NaN
  std::optional<double> kl;    // the greatest of all sides
  bool top1_same = true;
  std::vector<StepSide> sides;  // all but the first
  std::vector<double> seconds;  // of each run
};

// The first step at which a side chooses another token than the first side.
struct GenerationDivergence {
  uint64_t step = 0;
  uint64_t position = 0;
  uint64_t row = 0;
  std::string runner_a;
  std::string runner_b;
  int64_t token_a = 0;
  int64_t token_b = 0;
  std::optional<double> kl;
  std::optional<double> cache_relative;
  std::string inputs;   // file that has the inputs of this step; empty: not saved
  std::string command;  // that looks for the layer; empty: there is none
};

// Tokens that several sides generate, step by step.
struct Generation {
  uint64_t prompt_tokens = 0;
  uint64_t rows = 1;
  std::string teacher;  // the side whose tokens all others read; empty: each reads its own
  std::vector<FeedRule> feeds;
  std::vector<std::string> kept;  // inputs that are given again as they are
  std::vector<GenerationStep> steps;
  std::optional<GenerationDivergence> first_divergence;
};

}  // namespace assay::results
