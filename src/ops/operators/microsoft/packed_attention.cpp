#include <array>

#include "ops/kernels/attention/sequences.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/product/batched_product.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// Inputs of both operators behind queries, keys and values.
struct PackedInputs {
  uint32_t bias, offsets, bounds, addend;
};

constexpr PackedInputs kProjected = {2, 3, 4, 5};
constexpr PackedInputs kSeparate = {3, 4, 5, 6};

void require_heads(const Dim& width, int64_t heads) {
  if (width.is_number() && *width.number() % heads != 0)
    fail(ErrorCode::shape, "{} heads do not divide a width of {}", heads, width.text());
}

void check_packing(const Infer& node, const PackedInputs& inputs) {
  node.require_rank(inputs.offsets, 2);
  node.require_rank(inputs.bounds, 1);
  node.require_rank(inputs.addend, 4);
  if (!node.is_ranked(inputs.offsets)) return;
  const Dims& offsets = node.dims(inputs.offsets);
  if (node.is_ranked(inputs.bounds)) unify(node.dims(inputs.bounds)[0], offsets[0] + Dim(1), "ends of sequences");
  const Dims scores = {offsets[0], counted(node, "num_heads"), offsets[1], offsets[1]};
  for (size_t a = 0; a < 4 && node.is_ranked(inputs.addend); ++a) {
    const Dim& dim = node.dims(inputs.addend)[a];
    if (a > 1 || !dim.is(1)) unify(dim, scores[a], "dims of the attention bias and of the scores");
  }
}

// Widths of queries and values in what the projection gives: the keys are as wide as the queries.
std::array<Dim, 2> projected_widths(const Infer& node) {
  std::vector<int64_t> sizes = node.integers("qkv_hidden_sizes");
  if (!sizes.empty()) {
    if (sizes.size() != 3 || sizes[0] != sizes[1])
      fail(ErrorCode::shape, "`qkv_hidden_sizes` must have three sizes, of which the first two are equal");
    return {sizes[0], sizes[2]};
  }
  if (!node.is_ranked(1)) return {};
  return {floor_div(node.dims(1)[1], 3), floor_div(node.dims(1)[1], 3)};
}

void infer_projected(Infer& node) {
  check_packing(node, kProjected);
  node.require_rank(0, 2);
  node.require_rank(1, 2);
  node.require_rank(kProjected.bias, 1);
  const auto [width, value_width] = projected_widths(node);
  for (const Dim& each : {width, value_width}) require_heads(each, counted(node, "num_heads"));
  if (node.is_ranked(0) && node.is_ranked(1)) unify(node.dims(0)[1], node.dims(1)[0], "widths of input and weights");
  if (node.is_ranked(1)) unify(node.dims(1)[1], width * Dim(2) + value_width, "widths of the projection");
  node.set_dims(0, {node.is_ranked(0) ? node.dims(0)[0] : Dim(), value_width});
}

void infer_separate(Infer& node) {
  check_packing(node, kSeparate);
  const bool is_packed = !node.has(1);
  if (node.has(1) != node.has(2)) fail(ErrorCode::shape, "key and value must be given together");
  node.require_rank(0, is_packed ? 4 : 2);
  if (!node.is_ranked(0)) return;
  const Dims& query = node.dims(0);
  if (is_packed) {
    unify(query[1], counted(node, "num_heads"), "heads of the query and `num_heads`");
    unify(query[2], 3, "the third dim of a packed query and queries, keys and values");
    return node.set_dims(0, {query[0], query[1] * query[3]});
  }
  for (const uint32_t input : {1U, 2U}) {
    node.require_rank(input, 2);
    if (node.is_ranked(input)) unify(query[0], node.dims(input)[0], "numbers of tokens");
  }
  require_heads(query[1], counted(node, "num_heads"));
  if (node.is_ranked(1)) unify(query[1], node.dims(1)[1], "widths of query and key");
  if (node.is_ranked(2)) require_heads(node.dims(2)[1], counted(node, "num_heads"));
  node.set_dims(0, {query[0], node.is_ranked(2) ? node.dims(2)[1] : Dim()});
}

// Queries, keys and values of all tokens.
struct PackedTokens {
  uint64_t count = 0;
  TokenRows q, k, v;
};

void add_bias(const std::vector<double>& bias, uint64_t first, TokenRows& rows) {
  for (uint64_t i = 0; i < rows.elements.size(); ++i) rows.elements[i] += bias[first + i % rows.width()];
}

void add_bias(const Eval& node, uint32_t input, PackedTokens& tokens) {
  if (!node.has(input)) return;
  const std::vector<double> bias = node.load<double>(input);
  if (bias.size() != tokens.q.width() + tokens.k.width() + tokens.v.width())
    fail(ErrorCode::shape, "the bias has {} elements", bias.size());
  add_bias(bias, 0, tokens.q);
  add_bias(bias, tokens.q.width(), tokens.k);
  add_bias(bias, tokens.q.width() + tokens.k.width(), tokens.v);
}

void attend_packed(Eval& node, const PackedInputs& inputs, PackedTokens tokens) {
  add_bias(node, inputs.bias, tokens);
  const auto longest = static_cast<uint64_t>(node.shape(inputs.offsets)[1]);
  const std::vector<uint64_t> bounds = sequence_bounds(node, inputs.bounds, tokens.count);
  const auto batch = static_cast<int64_t>(bounds.size()) - 1;
  const auto heads = static_cast<int64_t>(tokens.q.heads);
  std::vector<double> addend;
  if (node.has(inputs.addend)) {
    const auto side = static_cast<int64_t>(longest);
    addend.resize(static_cast<uint64_t>(batch * heads) * longest * longest);
    BroadcastReader(node.tensor_in(inputs.addend), {batch, heads, side, side}).read(0, std::span(addend));
  }
  std::vector<double> out;
  for (uint64_t b = 0; b + 1 < bounds.size(); ++b) {
    const uint64_t length = bounds[b + 1] - bounds[b];
    if (length > longest) fail(ErrorCode::shape, "a sequence has {} tokens, the longest {}", length, longest);
    const GroupedHeads all{1, tokens.q.heads, tokens.q.heads, {length, length, tokens.q.size, tokens.v.size}};
    const auto weigh = [&](uint64_t, uint64_t h, uint64_t i, std::span<double> scores) {
      for (uint64_t j = 0; j < scores.size() && !addend.empty(); ++j)
        scores[j] += addend[((b * tokens.q.heads + h) * longest + i) * longest + j];
      softmax_row(scores, true);
    };
    const std::vector<double> mixed =
        attend_sequence(all, tokens.q.heads_of(bounds[b], bounds[b + 1]), tokens.k.heads_of(bounds[b], bounds[b + 1]),
                        tokens.v.heads_of(bounds[b], bounds[b + 1]), scale_of(node, tokens.q.size), weigh);
    out.insert(out.end(), mixed.begin(), mixed.end());
  }
  node.store(0, std::move(out));
}

void eval_projected(Eval& node) {
  const auto heads = static_cast<uint64_t>(counted(node, "num_heads"));
  const auto stride = static_cast<uint64_t>(node.shape(1)[1]);
  const auto value_width = static_cast<uint64_t>(node.out_shape(0)[1]);
  const uint64_t width = (stride - value_width) / 2;
  const std::vector<double> all = matmul(node.tensor_in(0), node.tensor_in(1), {node.shape(0)[0], node.shape(1)[1]});
  PackedTokens tokens{static_cast<uint64_t>(node.shape(0)[0]), token_rows(all, stride, 0, heads, width / heads),
                      token_rows(all, stride, width, heads, width / heads),
                      token_rows(all, stride, 2 * width, heads, value_width / heads)};
  attend_packed(node, kProjected, std::move(tokens));
}

// In a packed query, the three parts of a head lie behind one another.
TokenRows third(const Eval& node, uint64_t part, uint64_t heads) {
  const std::vector<double> all = node.load<double>(0);
  const auto size = static_cast<uint64_t>(node.shape(0)[3]);
  TokenRows rows{heads, size, std::vector<double>(all.size() / 3)};
  for (uint64_t i = 0; i < rows.elements.size(); ++i) rows.elements[i] = all[(i / size * 3 + part) * size + i % size];
  return rows;
}

void eval_separate(Eval& node) {
  const auto heads = static_cast<uint64_t>(counted(node, "num_heads"));
  const auto rows = [&](uint32_t input) {
    if (!node.has(1)) return third(node, input, heads);
    return TokenRows{heads, static_cast<uint64_t>(node.shape(input)[1]) / heads, node.load<double>(input)};
  };
  attend_packed(node, kSeparate, {static_cast<uint64_t>(node.shape(0)[0]), rows(0), rows(1), rows(2)});
}

}  // namespace

OperatorRows operator_microsoft_packed_attention() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "PackedAttention",
       .traits = {Nature::product, {.indices = {3, 4}}},
       .infer = infer_projected,
       .eval = eval_projected},
      {.domain = kMicrosoft,
       .name = "PackedMultiHeadAttention",
       .traits = {Nature::product, {.indices = {4, 5}}},
       .infer = infer_separate,
       .eval = eval_separate},
  };
  return kRows;
}

}  // namespace assay::ops
