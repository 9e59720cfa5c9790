#pragma once

#include <vector>

#include "ops/eval.h"
#include "ops/kernels/attention/grouped_attention.h"

namespace assay::ops {

// Begins of sequences of tokens that lie behind one another, and the end: [0, a, a + b, ...]. Error unless they ascend
// from 0 to `tokens`.
std::vector<uint64_t> sequence_bounds(const Eval& node, uint32_t input, uint64_t tokens);

// Rows of tokens, [tokens, heads * size].
struct TokenRows {
  uint64_t heads = 0;
  uint64_t size = 0;
  std::vector<double> elements;

  uint64_t width() const { return heads * size; }
  // Rows of one sequence, as [heads, tokens, size].
  std::vector<double> heads_of(uint64_t begin, uint64_t end) const;
};

// Columns of a matrix with `stride` columns, from `first` on, as rows of tokens.
TokenRows token_rows(const std::vector<double>& matrix, uint64_t stride, uint64_t first, uint64_t heads, uint64_t size);

// Queries, keys and values of all tokens in the inputs 0 to 2, or in columns of the first.
struct TokenTriple {
  TokenRows q, k, v;
};
TokenTriple token_triple(const Eval& node, uint64_t heads, uint64_t kv_heads, uint64_t size);
// Error unless key and value are both given or both left out, and heads divide the width of the query, which is the
// last of its dims. Gives the size of a head.
Dim checked_head_size(const Infer& node);
// An attribute that counts something. Error if it is less than 1.
int64_t counted(const Node& node, std::string_view name);

// Turns rows of tokens by the angles of their positions, from caches of cosines and sines.
class RowTurner {
 public:
  RowTurner(const Eval& node, uint32_t cosines, uint32_t sines);
  void turn(TokenRows& rows, uint64_t row, uint64_t position) const;

 private:
  std::vector<double> cosines_, sines_;
  uint64_t half_;
  bool interleaves_;
};

// The mixed values of one sequence [queries, heads * value_size], whose keys and values are [kv_heads, keys, size].
std::vector<double> attend_sequence(const GroupedHeads& heads, const std::vector<double>& q,
                                    const std::vector<double>& k, const std::vector<double>& v, double scale,
                                    WeighScores weigh);

// The attribute `scale`, or that of the size of heads.
double scale_of(const Node& node, uint64_t size);

}  // namespace assay::ops
