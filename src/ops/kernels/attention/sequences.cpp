#include "ops/kernels/attention/sequences.h"

#include <algorithm>
#include <cmath>

#include "ops/kernels/attention/heads.h"
#include "ops/kernels/attention/rotary.h"

namespace assay::ops {

std::vector<uint64_t> sequence_bounds(const Eval& node, uint32_t input, uint64_t tokens) {
  std::vector<uint64_t> bounds;
  for (const int64_t bound : node.integers_in(input)) {
    const bool is_right = bounds.empty() ? bound == 0 : bound >= static_cast<int64_t>(bounds.back());
    if (!is_right) fail(ErrorCode::shape, "the ends of sequences do not ascend from 0: {} is among them", bound);
    bounds.push_back(static_cast<uint64_t>(bound));
  }
  if (bounds.empty() || bounds.back() != tokens)
    fail(ErrorCode::shape, "the sequences have {} tokens, there are {}", bounds.empty() ? 0 : bounds.back(), tokens);
  return bounds;
}

std::vector<double> TokenRows::heads_of(uint64_t begin, uint64_t end) const {
  const auto number = [](uint64_t n) { return static_cast<int64_t>(n); };
  const HeadLayout layout({1, number(end - begin), number(width())}, number(heads));
  const auto first = elements.begin() + number(begin * width());
  return unpack_heads(std::vector<double>(first, first + number((end - begin) * width())), layout);
}

TokenRows token_rows(const std::vector<double>& matrix, uint64_t stride, uint64_t first, uint64_t heads,
                     uint64_t size) {
  TokenRows rows{heads, size, std::vector<double>(stride == 0 ? 0 : matrix.size() / stride * heads * size)};
  const uint64_t width = rows.width();
  for (uint64_t i = 0; i < rows.elements.size(); ++i) {
    rows.elements[i] = matrix[i / width * stride + first + i % width];
  }
  return rows;
}

TokenTriple token_triple(const Eval& node, uint64_t heads, uint64_t kv_heads, uint64_t size) {
  const std::vector<double> first = node.load<double>(0);
  const auto stride = static_cast<uint64_t>(node.shape(0).back());
  const uint64_t kv_width = kv_heads * size;
  if (!node.has(1)) {
    return {token_rows(first, stride, 0, heads, size), token_rows(first, stride, heads * size, kv_heads, size),
            token_rows(first, stride, heads * size + kv_width, kv_heads, size)};
  }
  return {token_rows(first, stride, 0, heads, size), token_rows(node.load<double>(1), kv_width, 0, kv_heads, size),
          token_rows(node.load<double>(2), kv_width, 0, kv_heads, size)};
}

Dim checked_head_size(const Infer& node) {
  const int64_t heads = counted(node, "num_heads");
  const int64_t kv_heads = counted(node, "kv_num_heads");
  if (heads % kv_heads != 0) fail(ErrorCode::shape, "num_heads {} is no multiple of kv_num_heads {}", heads, kv_heads);
  if (node.has(1) != node.has(2)) fail(ErrorCode::shape, "key and value must be given together");
  if (!node.is_ranked(0)) return {};
  const int64_t all = node.has(1) ? heads : heads + 2 * kv_heads;
  const Dim& width = node.dims(0).back();
  if (width.is_number() && *width.number() % all != 0)
    fail(ErrorCode::shape, "{} heads do not divide a width of {}", all, width.text());
  const Dim size = floor_div(width, all);
  for (const uint32_t input : {1U, 2U}) {
    node.require_rank(input, node.rank(0));
    if (!node.is_ranked(input)) continue;
    for (size_t a = 0; a + 1 < node.dims(0).size(); ++a)
      unify(node.dims(input)[a], node.dims(0)[a], "dims of the inputs");
    unify(node.dims(input).back(), size * Dim(kv_heads), "widths of key or value and of heads");
  }
  return size;
}

int64_t counted(const Node& node, std::string_view name) {
  const int64_t value = node.integer(name);
  if (value < 1 || value > INT32_MAX) fail(ErrorCode::shape, "attribute `{}` is {}", name, value);
  return value;
}

RowTurner::RowTurner(const Eval& node, uint32_t cosines, uint32_t sines)
    : cosines_(node.load<double>(cosines)),
      sines_(node.load<double>(sines)),
      half_(static_cast<uint64_t>(node.shape(cosines)[1])),
      interleaves_(node.flag("rotary_interleaved")) {}

void RowTurner::turn(TokenRows& rows, uint64_t row, uint64_t position) const {
  if ((position + 1) * half_ > std::min(cosines_.size(), sines_.size()) || 2 * half_ > rows.size)
    fail(ErrorCode::shape, "position {} has no angles in the caches", position);
  for (uint64_t h = 0; h < rows.heads; ++h) {
    turn_pairs(rows.elements.data() + (row * rows.heads + h) * rows.size, cosines_.data() + position * half_,
               sines_.data() + position * half_, half_, interleaves_);
  }
}

std::vector<double> attend_sequence(const GroupedHeads& heads, const std::vector<double>& q,
                                    const std::vector<double>& k, const std::vector<double>& v, double scale,
                                    WeighScores weigh) {
  return pack_attended(attend(heads, q, k, v, scale, weigh), heads);
}

double scale_of(const Node& node, uint64_t size) {
  const double written = node.floating("scale", 0);
  return written == 0 ? 1 / std::sqrt(static_cast<double>(size)) : written;
}

}  // namespace assay::ops
