#include "base/parallel.h"
#include "ops/kernels/attention/heads.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The number of elements of a head that are turned.
Dim rotated_size(const Node& node, const Dim& head_size) {
  const int64_t written = node.integer("rotary_embedding_dim");
  const Dim size = written == 0 ? head_size : Dim(written);
  const bool is_bad = written < 0 || (size.is_number() && *size.number() % 2 != 0);
  if (is_bad) fail(ErrorCode::shape, "{} elements of a head cannot be turned in pairs", size.text());
  if (size.is_number() && head_size.is_number() && *size.number() > *head_size.number()) {
    fail(ErrorCode::shape, "{} elements are to be turned, a head has {}", size.text(), head_size.text());
  }
  return size;
}

void check_cache(const Infer& node, uint32_t input, const HeadDims& x, const Dim& half) {
  const bool has_positions = node.has(3);
  node.require_rank(input, has_positions ? 2 : 3);
  if (!node.is_ranked(input)) return;
  const Dims& dims = node.dims(input);
  unify(dims.back(), half, "the last dim of a cache and half of the elements to be turned");
  if (has_positions) return;
  unify(dims[0], x.batch, "batch sizes of cache and input");
  unify(dims[1], x.length, "lengths of cache and input");
}

void infer_rotary_embedding(Infer& node) {
  if (!node.is_ranked(0)) return;
  const HeadDims x = head_dims(node, 0, "num_heads");
  const Dim half = floor_div(rotated_size(node, x.size), 2);
  check_cache(node, 1, x, half);
  check_cache(node, 2, x, half);
  node.require_rank(3, 2);
  if (node.is_ranked(3)) {
    unify(node.dims(3)[0], x.batch, "batch sizes of positions and input");
    unify(node.dims(3)[1], x.length, "lengths of positions and input");
  }
  if (node.is_ranked(1) && node.is_ranked(2)) unify(node.dims(1)[0], node.dims(2)[0], "first dims of the caches");
  node.set_dims(0, node.dims(0));
}

// The row of the caches for each place of each batch entry.
std::vector<uint64_t> cache_rows(const Eval& node, uint64_t count) {
  std::vector<uint64_t> rows(count);
  if (!node.has(3)) {
    for (uint64_t i = 0; i < count; ++i) rows[i] = i;
    return rows;
  }
  const std::vector<int64_t> positions = node.integers_in(3);
  const int64_t limit = node.shape(1)[0];
  for (uint64_t i = 0; i < count; ++i) {
    if (positions[i] < 0 || positions[i] >= limit) {
      fail(ErrorCode::shape, "position {} is out of range for {} rows of the cache", positions[i], limit);
    }
    rows[i] = static_cast<uint64_t>(positions[i]);
  }
  return rows;
}

void eval_rotary_embedding(Eval& node) {
  const HeadLayout layout(node.shape(0), node.integer("num_heads", 1));
  std::vector<double> data = node.load<double>(0);
  const std::vector<double> cosines = node.load<double>(1);
  const std::vector<double> sines = node.load<double>(2);
  const std::vector<uint64_t> rows = cache_rows(node, layout.batch * layout.length);
  const auto half = static_cast<uint64_t>(node.shape(1).back());
  const bool is_interleaved = node.flag("interleaved");
  parallel_for(layout.vectors(), 64, [&](uint64_t begin, uint64_t end) {
    for (uint64_t index = begin; index < end; ++index) {
      const uint64_t at = index % layout.length;
      const uint64_t b = index / layout.length / layout.heads;
      double* head = data.data() + layout.place(b, index / layout.length % layout.heads, at);
      const uint64_t row = rows[b * layout.length + at] * half;
      for (uint64_t i = 0; i < half; ++i) {
        double& x = head[is_interleaved ? 2 * i : i];
        double& y = head[is_interleaved ? 2 * i + 1 : i + half];
        const double real = cosines[row + i] * x - sines[row + i] * y;
        y = sines[row + i] * x + cosines[row + i] * y;
        x = real;
      }
    }
  });
  node.store(0, std::move(data));
}

}  // namespace

OperatorRows operator_attention_rotary_embedding() {
  static constexpr Operator kRows[] = {
      {.name = "RotaryEmbedding",
       .since = 23,
       .traits = {Nature::product, {.indices = {3}}},
       .infer = infer_rotary_embedding,
       .eval = eval_rotary_embedding},
  };
  return kRows;
}

}  // namespace assay::ops
