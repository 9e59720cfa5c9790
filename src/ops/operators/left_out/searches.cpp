#include "ops/operator.h"

namespace assay::ops {
// Searches for tokens with whole models inside, operators on texts, and parts that a provider has compiled.
OperatorRows operator_left_out_searches() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft, .name = "BeamSearch", .traits = {Nature::control, {.bodies = Bodies::again}}},
      {.domain = kMicrosoft, .name = "EPContext", .traits = {Nature::product}},
      {.domain = kMicrosoft, .name = "GreedySearch", .traits = {Nature::control, {.bodies = Bodies::again}}},
      {.domain = kMicrosoft, .name = "Sampling", .traits = {Nature::control, {.bodies = Bodies::again}}},
      {.domain = kMicrosoft, .name = "Snpe", .traits = {Nature::product}},
      {.domain = kMicrosoft, .name = "Tokenizer", .traits = {Nature::text, {.counts_elements = true}}},
      {.domain = kMicrosoft, .name = "WhisperBeamSearch", .traits = {Nature::control, {.bodies = Bodies::again}}},
      {.domain = kMicrosoft, .name = "WordConvEmbedding", .traits = {Nature::text}},
  };
  return kRows;
}

}  // namespace assay::ops
