#include "engine/devices/cpu/attention/attention_operands.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/devices/cpu/parts.h"

namespace assay::engine::cpu {
namespace {

bool are_caches_large(const AttentionGeometry& g) {
  constexpr int64_t kLargeBytes = 1 << 17;
  int64_t bytes = 0;
  for (const auto& [cache, width] : {std::pair(&g.k_cache, g.depth), std::pair(&g.v_cache, g.width)}) {
    int64_t count = cache->kept.exist() ? g.keys * width * float_bytes(cache->kept_type) : 0;
    for (size_t i = 0; i < g.items.size(); ++i) count *= count == 0 || cache->kept.items[i] == 0 ? 1 : g.items[i];
    bytes += count;
  }
  return bytes >= kLargeBytes;
}

// That of whole panels of values.
int64_t padded_width(const AttentionGeometry& g) {
  const bool has_narrow = g.dtype == tensor::DType::float32;
  return rounded_up(g.width, static_cast<int64_t>(has_narrow ? kNarrowPanel : kPanel));
}

}  // namespace

AttentionOperands::AttentionOperands(AttentionGeometry geometry)
    : g(std::move(geometry)),
      width(padded_width(g)),
      has_large_caches(are_caches_large(g)),
      keys({g.dtype, g.items, g.keys, g.depth, has_large_caches}, g.k, g.k_cache),
      values({g.dtype, g.items, g.keys, g.width, has_large_caches}, g.v, g.v_cache) {}

int64_t AttentionOperands::item_count() const {
  int64_t count = 1;
  for (const int64_t dim : g.items) count *= dim;
  return count;
}

// Bounded by what the second cache holds beside a block of keys, and so that all threads have some.
int64_t AttentionOperands::chunk() const {
  constexpr int64_t kLeast = 128, kMost = 512, kSums = 1 << 15, kPiecesOfThread = 4;
  const int64_t held = std::clamp(kSums / width / kLeast * kLeast, kLeast, kMost);
  const auto pieces = static_cast<int64_t>(thread_count()) * kPiecesOfThread;
  const int64_t shared = rounded_up(g.rows * item_count() / pieces + 1, kLeast);
  return thread_count() == 1 ? held : std::min(held, shared);
}

const std::byte* AttentionOperands::place(const Matrices& matrices, const AttentionChunk& chunk, int64_t row,
                                          int64_t element_bytes) const {
  const int64_t element = element_of(matrices, g.items, chunk.item) + row * matrices.row;
  return first_byte(matrices, chunk.arguments) + element * element_bytes;
}

int64_t AttentionOperands::seen_by(const AttentionChunk& chunk, int64_t row) const {
  int64_t limit = g.keys;
  if (g.last_key.exist()) limit = std::min<int64_t>(limit, *at<int32_t>(g.last_key, chunk) + 1);
  if (!g.is_causal) return limit;
  const int64_t past = g.ends_with_last ? limit - g.rows : g.past;
  return std::clamp<int64_t>(past + row + 1, 0, limit);
}

FloatRows AttentionOperands::queries(const AttentionChunk& chunk, AttentionRange rows) const {
  const int64_t bytes = float_bytes(g.dtype);
  const std::byte* const from = place(g.q, chunk, rows.begin, bytes);
  if (!is_widened()) return {reinterpret_cast<const float*>(from), g.q.row, 1, rows.begin, rows.end};
  float* const tile = chunk.scratch.rows;
  for (int64_t r = 0; r < rows.size(); ++r)
    read_floats(g.dtype, from + r * g.q.row * bytes, tile + r * g.depth, static_cast<size_t>(g.depth));
  return {tile, g.depth, 1, rows.begin, rows.end};
}

std::array<FloatRows, 2> AttentionOperands::read_keys(const AttentionChunk& chunk, AttentionRange wanted,
                                                      float* tile) const {
  return keys.read(chunk.arguments, {chunk.item, wanted.begin, wanted.end, chunk.keeps_keys, tile, g.depth});
}

std::array<FloatRows, 2> AttentionOperands::read_values(const AttentionChunk& chunk, AttentionRange wanted, float* tile,
                                                        int64_t row) const {
  return values.read(chunk.arguments, {chunk.item, wanted.begin, wanted.end, chunk.keeps_values, tile, row});
}

AttentionScratch::AttentionScratch(float* memory, const AttentionGeometry& g, int64_t chunk) {
  const int64_t width = padded_width(g);
  const int64_t longest = std::max(g.depth, g.width);
  const auto take = [&](int64_t count) {
    float* const taken = memory == nullptr ? nullptr : memory + size;
    size += count;
    return taken;
  };
  sums = take(chunk * width);
  scores = take(kQueries * kKeys);
  keys = take(kKeys * g.depth);
  values = take(kKeys * width);
  mask = take(kQueries * kKeys);
  rows = take(kColumns * longest);
  halves = take(kColumns * (longest / 2 + 1));
  states = reinterpret_cast<SoftmaxSoFar*>(take(chunk * static_cast<int64_t>(sizeof(SoftmaxSoFar) / sizeof(float))));
}

}  // namespace assay::engine::cpu
