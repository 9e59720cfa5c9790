#include "ops/operator.h"

namespace assay::ops {
namespace {

// Results of which the first has the dims of the query, and the others those of operands that are kept for the next
// step.
template <uint32_t... Kept>
void infer_query(Infer& node) {
  const bool is_packed = !node.has(1) || !node.has(2);  // keys and values lie behind the queries
  if (node.is_ranked(0) && !is_packed) node.set_dims(0, node.dims(0));
  uint32_t output = 1;
  const auto keep = [&](uint32_t input) {
    if (node.wants(output) && node.is_ranked(input)) node.set_dims(output, node.dims(input));
    ++output;
  };
  (keep(Kept), ...);
}

void infer_first(Infer& node) {
  if (node.is_ranked(0)) node.set_dims(0, node.dims(0));
}

}  // namespace

// Forms of attention and recurrences that run on cards only: they have traits, and shapes where these are those of
// operands.
OperatorRows operator_left_out_attention() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft, .name = "AttnLSTM", .traits = {Nature::recurrence}},
      {.domain = kMicrosoft, .name = "DecoderAttention", .traits = {Nature::product}, .infer = infer_first},
      {.domain = kMicrosoft, .name = "DecoderMaskedSelfAttention", .traits = {Nature::product}},
      {.domain = kMicrosoft,
       .name = "DynamicSparseAttention",
       .traits = {Nature::product, {.indices = {7}}},
       .infer = infer_query<3, 4>},
      {.domain = kMicrosoft, .name = "LongformerAttention", .traits = {Nature::product}, .infer = infer_first},
      {.domain = kMicrosoft, .name = "PackedSparseAttentionIndexer", .traits = {Nature::selection}},
      {.domain = kMicrosoft, .name = "QOrderedAttention", .traits = {Nature::product, {.codes = {0, 5, 6, 7}}}},
      {.domain = kMicrosoft,
       .name = "QOrderedLongformerAttention",
       .traits = {Nature::product, {.codes = {0, 2}}},
       .infer = infer_first},
      {.domain = kMicrosoft, .name = "SparseAttentionIndexer", .traits = {Nature::selection}},
      {.domain = kMicrosoft,
       .name = "SparsePagedAttention",
       .traits = {Nature::product, {.indices = {5, 6, 7}}},
       .infer = infer_query<3, 4>},
  };
  return kRows;
}

}  // namespace assay::ops
