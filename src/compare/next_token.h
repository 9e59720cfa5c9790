#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace assay::compare {

// The scores of the next token, for each row of a batch.
struct TokenScores {
  std::vector<std::vector<double>> rows;  // logits; empty where a model gives the tokens that it has chosen
  std::vector<int64_t> tokens;            // with the greatest, the first of several; -1: there are NaN
};

// Logits of rows x tokens x words, or rows x words, at the place `last` of the tokens; integers are tokens themselves.
// Error (shape) for other shapes.
TokenScores next_scores(const tensor::Tensor& logits, uint64_t rows, std::optional<uint64_t> last);

// Kullback-Leibler divergence, in nats, of what `logits` expect from what `reference` expects: the sum of p log(p/q)
// with p of the reference.
double next_token_divergence(std::span<const double> reference, std::span<const double> logits);

}  // namespace assay::compare
