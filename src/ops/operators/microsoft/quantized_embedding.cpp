#include "ops/kernels/elements/line_norm.h"
#include "ops/kernels/movement/embedding.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kMask = 7;
constexpr uint32_t kTables = 2;  // of words, positions, segments, then gamma and beta
constexpr uint32_t kCount = 5;

void infer_embedding(Infer& node) {
  const bool has_segments = node.has(1);
  for (const uint32_t input : {4U, 4U + 6, 4U + 11}) {
    if (node.has(input) != has_segments)
      fail(ErrorCode::shape, "ids, codes, scale and zero point of segments must be given together");
  }
  for (const uint32_t ids : {0U, 1U, kMask}) node.require_rank(ids, 2);
  for (uint32_t i = 0; i < kCount; ++i) node.require_rank(kTables + i, i < 3 ? 2 : 1);
  if (!node.is_ranked(0) || !node.is_ranked(kTables)) return;
  const Dim width = node.dims(kTables)[1];
  for (uint32_t i = 1; i < kCount; ++i) {
    if (node.is_ranked(kTables + i)) unify(width, node.dims(kTables + i).back(), "widths of the embeddings");
  }
  for (const uint32_t ids : {1U, kMask}) {
    for (size_t a = 0; a < 2 && node.is_ranked(ids); ++a) unify(node.dims(0)[a], node.dims(ids)[a], "dims of the ids");
  }
  node.set_dims(0, {node.dims(0)[0], node.dims(0)[1], width});
  node.set_dims(1, {node.dims(0)[0]});
}

// The numbers that the codes of a table stand for.
std::vector<double> numbers_of(const Eval& node, uint32_t table) {
  std::vector<double> numbers;
  const double scale = node.load<double>(kTables + table + 6).at(0);
  const int64_t zero = node.integers_in(kTables + table + 11).at(0);
  for (const int64_t code : node.integers_in(kTables + table))
    numbers.push_back(scale * static_cast<double>(code - zero));
  return numbers;
}

void add_rows(const Eval& node, uint32_t table, const std::vector<int64_t>& ids, std::vector<double>& sums) {
  const std::vector<double> numbers = numbers_of(node, table);
  const tensor::Shape& shape = node.shape(kTables + table);
  const auto width = static_cast<uint64_t>(shape[1]);
  add_named_rows(ids, shape, sums, [&](uint64_t row) { return std::span(numbers).subspan(row * width, width); });
}

void eval_embedding(Eval& node) {
  std::vector<double> sums(node.out_count(0));
  add_rows(node, 0, node.integers_in(0), sums);
  add_rows(node, 1, places_in_lines(node.shape(0)), sums);
  if (node.has(1)) add_rows(node, 2, node.integers_in(1), sums);
  LineNorm norm{static_cast<uint64_t>(node.shape(kTables)[1]), node.floating("epsilon"), true};
  norm.gamma = numbers_of(node, 3);
  norm.beta = numbers_of(node, 4);
  norm.apply(sums);
  node.store(0, std::move(sums));
  node.store(1, counts_of_mask(node, kMask, node.shape(0)));
}

}  // namespace

OperatorRows operator_microsoft_quantized_embedding() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "QEmbedLayerNormalization",
       .traits = {Nature::normalization, {.indices = {0, 1}, .codes = {2, 3, 4, 5, 6}, .scales = {8, 9, 10, 11, 12}}},
       .infer = infer_embedding,
       .eval = eval_embedding},
  };
  return kRows;
}

}  // namespace assay::ops
