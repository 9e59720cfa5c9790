#pragma once

#include "analysis/feedback.h"
#include "compare/next_token.h"
#include "results/generation.h"
#include "tensor/tensor.h"

namespace assay::tasks {

// One side at one step, as far as it is compared.
struct StepRecord {
  uint64_t position = 0;  // of the last token that was read
  compare::TokenScores scores;
  std::vector<tensor::Tensor> written;             // into the caches
  tensor::Tensor read;                             // token ids
  tensor::DType dtype = tensor::DType::undefined;  // of the logits
  double seconds = 0;
};

// A side beside the first one. `same_context`: it has read the same tokens.
results::StepSide compare_step(const StepRecord& first, const StepRecord& other, const analysis::FeedRules& rules,
                               bool same_context);

// Joins the sides of all steps: rows that are told, tokens and the greatest divergences, and the first step at which a
// side chooses another token after the same ones. `tokens`, by side and step: one for each row.
void join_steps(results::Generation& generation, const std::vector<std::string>& runners,
                const std::vector<std::vector<std::vector<int64_t>>>& tokens, size_t first);

}  // namespace assay::tasks
