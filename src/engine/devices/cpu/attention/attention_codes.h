#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/devices/cpu/attention/attention_matrices.h"
#include "engine/devices/cpu/integers/score_kernels.h"
#include "engine/layers/quantized_attention.h"

namespace assay::engine::cpu {

// A step on scores, with what it reads of an input.
struct ChangedScores {
  ScoreStep step;
  Matrices other;
};

// softmax(q * k) * v of codes for every item: scores are changed, and weights and perhaps the result quantised. Rows of
// q, of what scores are changed by, and of the result must be dense.
struct CodeAttention {
  std::vector<int64_t> items;
  int64_t rows = 0, keys = 0, depth = 0, width = 0;
  Matrices q, k, v, out;  // k: rows are keys
  Quantizer q_codes, k_codes, v_codes;
  float factor = 1;                    // of the sums that are scores
  std::vector<ChangedScores> changes;  // at most kMostScoreChanges
  Quantizer weights, weights_read;     // by which they become codes, and by which these are read
  std::optional<Quantizer> result;     // nullopt: floats
};

std::unique_ptr<PlainKernel> make_attention_of_codes(CodeAttention attention);

}  // namespace assay::engine::cpu
