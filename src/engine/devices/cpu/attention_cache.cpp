#include "engine/devices/cpu/attention_cache.h"

#include <algorithm>

#include "base/parallel.h"

namespace assay::engine::cpu {
namespace {

void copy_rows(const float* from, int64_t stride, int64_t rows, int64_t width, float* to) {
  if (stride == width) {
    std::copy_n(from, rows * width, to);
    return;
  }
  for (int64_t r = 0; r < rows; ++r) std::copy_n(from + r * stride, width, to + r * width);
}

class CachedAttention final : public PlainKernel {
 public:
  CachedAttention(std::vector<AttentionCache> caches, AttentionGeometry geometry)
      : caches_(std::move(caches)), attention_(make_attention(std::move(geometry))) {}

  uint64_t workspace_bytes() const override { return attention_->workspace_bytes(); }

  void run(const Arguments& arguments) const override {
    for (const AttentionCache& cache : caches_) fill(cache, arguments);
    attention_->run(arguments);
  }

 private:
  static void fill(const AttentionCache& cache, const Arguments& arguments) {
    parallel_for(static_cast<uint64_t>(cache.batch * cache.heads), 1, [&](uint64_t begin, uint64_t end) {
      for (auto item = static_cast<int64_t>(begin); item < static_cast<int64_t>(end); ++item) {
        float* const to =
            host<float>(arguments.outputs[cache.result]) + item * (cache.past_rows + cache.rows) * cache.width;
        const auto copy = [&](const Matrices& from, int64_t rows, float* where) {
          const float* const first = host<const float>(arguments.inputs[static_cast<size_t>(from.input)]) +
                                     item / cache.heads * from.items[0] + item % cache.heads * from.items[1];
          copy_rows(first, from.row, rows, cache.width, where);
        };
        if (cache.past_rows > 0) copy(cache.past, cache.past_rows, to);
        copy(cache.fresh, cache.rows, to + cache.past_rows * cache.width);
      }
    });
  }

  std::vector<AttentionCache> caches_;
  std::unique_ptr<PlainKernel> attention_;
};

}  // namespace

std::unique_ptr<Kernel> make_cached_attention(std::vector<AttentionCache> caches, AttentionGeometry geometry) {
  if (caches.empty()) return make_attention(std::move(geometry));
  return std::make_unique<CachedAttention>(std::move(caches), std::move(geometry));
}

}  // namespace assay::engine::cpu
