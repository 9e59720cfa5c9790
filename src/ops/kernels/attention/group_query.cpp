#include "ops/kernels/attention/group_query.h"

#include <algorithm>
#include <cmath>

#include "ops/kernels/attention/rotary.h"

namespace assay::ops {
namespace {

using In = GroupQueryInputs;

// Key and value have the batch and the length of the query.
void check_separate(const Infer& node, const GroupQueryDims& dims) {
  if (!node.has(2)) fail(ErrorCode::shape, "key and value must be given together");
  for (const uint32_t input : {1U, 2U}) {
    node.require_rank(input, 3);
    if (!node.is_ranked(input)) continue;
    unify(node.dims(input)[0], dims.batch, "batch sizes");
    unify(node.dims(input)[1], dims.length, "lengths of query, key and value");
    unify(node.dims(input)[2], dims.size * Dim(dims.kv_heads), "widths of key or value and of their heads");
  }
}

Dim past_length(const Infer& node, const GroupQueryDims& dims) {
  if (node.has(In::kPastKey) != node.has(In::kPastValue))
    fail(ErrorCode::shape, "past keys and values must be given together");
  if (!node.has(In::kPastKey)) return 0;
  Dim length;
  for (const uint32_t input : {In::kPastKey, In::kPastValue}) {
    node.require_rank(input, 4);
    if (!node.is_ranked(input)) continue;
    const Dims& past = node.dims(input);
    unify(past[0], dims.batch, "batch sizes of past and query");
    unify(past[1], dims.kv_heads, "heads of the past and `kv_num_heads`");
    length = unify(length, past[2], "lengths of past keys and values");
    const CacheCodes codes(node, input == In::kPastKey ? "k_quant_type" : "v_quant_type");
    unify(past[3], codes.width(dims.size), "sizes of heads of past and query");
  }
  return length;
}

// The caches either grow with the tokens, or hold them already.
Dim present_length(const GroupQueryDims& dims, const Dim& past) {
  if (past.is(0)) {
    unify(dims.total, dims.length, "total_sequence_length, without a past, and the length of the query");
    return dims.length;
  }
  if (!past.is_number() || !dims.total.is_number()) return {};
  if (*dims.total.number() <= *past.number()) return past;
  unify(dims.total, past + dims.length, "total_sequence_length and the lengths of past and query");
  return dims.total;
}

int64_t heads_of(const Node& node, std::string_view name) {
  const int64_t heads = node.integer(name);
  if (heads < 1 || heads > INT32_MAX) fail(ErrorCode::shape, "attribute `{}` is {}", name, heads);
  return heads;
}

}  // namespace

GroupQueryDims group_query_dims(const Infer& node) {
  GroupQueryDims dims;
  dims.heads = heads_of(node, "num_heads");
  dims.kv_heads = heads_of(node, "kv_num_heads");
  if (dims.heads % dims.kv_heads != 0)
    fail(ErrorCode::shape, "num_heads {} is no multiple of kv_num_heads {}", dims.heads, dims.kv_heads);
  node.require_rank(0, 3);
  if (node.is_ranked(0)) {
    const int64_t heads = node.has(1) ? dims.heads : dims.heads + 2 * dims.kv_heads;
    const Dim& width = node.dims(0)[2];
    if (width.is_number() && *width.number() % heads != 0)
      fail(ErrorCode::shape, "{} heads do not divide a width of {}", heads, width.text());
    dims.batch = node.dims(0)[0];
    dims.length = node.dims(0)[1];
    dims.size = floor_div(width, heads);
  }
  if (node.has(1)) check_separate(node, dims);
  if (const std::optional<int64_t> total = node.integer_of(In::kTotal)) {
    if (*total < 0) fail(ErrorCode::shape, "total_sequence_length is {}", *total);
    dims.total = *total;
  }
  dims.present = present_length(dims, past_length(node, dims));
  return dims;
}

GroupQuery::GroupQuery(const Eval& node)
    : batch(static_cast<uint64_t>(node.shape(0)[0])),
      length(static_cast<uint64_t>(node.shape(0)[1])),
      heads(static_cast<uint64_t>(node.integer("num_heads"))),
      kv_heads(static_cast<uint64_t>(node.integer("kv_num_heads"))),
      size(static_cast<uint64_t>(node.shape(0)[2]) / (node.has(1) ? heads : heads + 2 * kv_heads)),
      total(static_cast<uint64_t>(node.scalar<int64_t>(In::kTotal, 0))),
      present(std::max(total, node.has(In::kPastKey) ? static_cast<uint64_t>(node.shape(In::kPastKey)[2]) : 0)),
      key_codes(node, "k_quant_type"),
      value_codes(node, "v_quant_type"),
      is_prompt_(length == total) {
  key_codes.read_scales(node, In::kKeyScale, kv_heads, size);
  value_codes.read_scales(node, In::kValueScale, kv_heads, size);
  read_ends(node);
  const bool is_packed = !node.has(1);
  std::vector<double> queries = tokens(node, 0, 0, heads);
  std::vector<double> keys = tokens(node, is_packed ? 0 : 1, is_packed ? heads * size : 0, kv_heads);
  const std::vector<double> values =
      tokens(node, is_packed ? 0 : 2, is_packed ? (heads + kv_heads) * size : 0, kv_heads);
  normalize(node, In::kQueryNorm, queries);
  normalize(node, In::kKeyNorm, keys);
  turn(node, queries, heads);
  turn(node, keys, kv_heads);
  q.resize(queries.size());
  for (uint64_t i = 0; i < queries.size(); ++i) {
    const uint64_t at = i / size;
    const uint64_t t = at / heads;
    q[((t / length * heads + at % heads) * length + t % length) * size + i % size] = queries[i];
  }
  k = cache(node, In::kPastKey, keys, key_codes);
  v = cache(node, In::kPastValue, values, value_codes);
}

void GroupQuery::read_ends(const Eval& node) {
  for (const int64_t last : node.integers_in(In::kLast)) {
    if (last < 0 || last >= static_cast<int64_t>(present))
      fail(ErrorCode::shape, "the last token is number {}, the caches have room for {}", last, present);
    ends_.push_back(static_cast<uint64_t>(last) + 1);
    if (!is_prompt_ && ends_.back() < length)
      fail(ErrorCode::shape, "{} tokens in all are fewer than the {} new ones", ends_.back(), length);
  }
}

std::vector<double> GroupQuery::tokens(const Eval& node, uint32_t input, uint64_t first, uint64_t count) const {
  const std::vector<double> all = node.load<double>(input);
  const auto width = static_cast<uint64_t>(node.shape(input)[2]);
  std::vector<double> result(batch * length * count * size);
  for (uint64_t i = 0; i < result.size(); ++i) {
    result[i] = all[i / (count * size) * width + first + i % (count * size)];
  }
  return result;
}

void GroupQuery::normalize(const Eval& node, uint32_t weights, std::vector<double>& tokens) const {
  if (!node.has(weights)) return;
  const std::vector<double> factors = node.load<double>(weights);
  const double epsilon = node.floating("qk_norm_epsilon");
  for (uint64_t first = 0; first < tokens.size(); first += size) {
    double squares = 0;
    for (uint64_t i = 0; i < size; ++i) squares += tokens[first + i] * tokens[first + i];
    const double root = std::sqrt(squares / static_cast<double>(size) + epsilon);
    for (uint64_t i = 0; i < size; ++i) tokens[first + i] = tokens[first + i] / root * factors[i];
  }
}

// Turns tokens by their positions. For a prompt only the first given position counts, the others follow it.
void GroupQuery::turn(const Eval& node, std::vector<double>& tokens, uint64_t count) const {
  if (!node.flag("do_rotary")) return;
  const std::vector<double> cosines = node.load<double>(In::kCosines);
  const std::vector<double> sines = node.load<double>(In::kSines);
  const std::vector<int64_t> positions =
      node.has(In::kPositions) ? node.integers_in(In::kPositions) : std::vector<int64_t>{};
  const auto half = static_cast<uint64_t>(node.shape(In::kCosines)[1]);
  const int64_t limit = node.shape(In::kCosines)[0];
  for (uint64_t t = 0; t < batch * length; ++t) {
    const uint64_t own = past(t / length) + t % length;
    auto position = static_cast<int64_t>(own);
    if (!positions.empty()) position = is_prompt_ ? positions[0] + static_cast<int64_t>(t % length) : positions[t];
    if (position < 0 || position >= limit)
      fail(ErrorCode::shape, "position {} is out of range for {} rows of the cache", position, limit);
    const uint64_t row = static_cast<uint64_t>(position) * half;
    for (uint64_t h = 0; h < count; ++h) {
      turn_pairs(tokens.data() + (t * count + h) * size, cosines.data() + row, sines.data() + row, half,
                 node.flag("rotary_interleaved"));
    }
  }
}

// Zeros lie behind the last token. New tokens are as the cache keeps them, too.
std::vector<double> GroupQuery::cache(const Eval& node, uint32_t past_input, const std::vector<double>& tokens,
                                      const CacheCodes& codes) const {
  std::vector<double> result(batch * kv_heads * present * size);
  std::vector<double> old;
  if (node.has(past_input)) old = codes.are_used() ? codes.decoded(node, past_input) : node.load<double>(past_input);
  const uint64_t room = node.has(past_input) ? static_cast<uint64_t>(node.shape(past_input)[2]) : 0;
  for (uint64_t at = 0; at < batch * kv_heads; ++at) {
    const uint64_t kept = past(at / kv_heads);
    double* to = result.data() + at * present * size;
    if (kept > room) fail(ErrorCode::shape, "{} tokens are said to be in a past of {}", kept, room);
    std::copy_n(old.begin() + static_cast<ptrdiff_t>(at * room * size), kept * size, to);
    for (uint64_t t = 0; t < length; ++t) {
      const uint64_t from = ((at / kv_heads * length + t) * kv_heads + at % kv_heads) * size;
      for (uint64_t i = 0; i < size; ++i) {
        const double number = tokens[from + i];
        to[(kept + t) * size + i] = codes.are_used() ? codes.kept(number, at % kv_heads * size + i) : number;
      }
    }
  }
  return result;
}

}  // namespace assay::ops
