#include "engine/devices/cpu/attention/group_query.h"

#include <algorithm>
#include <array>

#include "base/parallel.h"
#include "engine/devices/cpu/attention/attention_blocks.h"

namespace assay::engine::cpu {
namespace {

constexpr size_t kPast = GroupQuery::kPast, kLast = GroupQuery::kLast;
constexpr size_t kCosines = GroupQuery::kCosines, kSines = GroupQuery::kSines;

AttentionGeometry geometry_of(const GroupQuery& query) {
  AttentionGeometry geometry = group_query_geometry(query);
  join_rows_of_heads(geometry);
  return geometry;
}

class GroupQueryKernel final : public PlainKernel {
 public:
  explicit GroupQueryKernel(const GroupQuery& what) : g_(what), attention_(make_attention(geometry_of(what))) {}

  uint64_t workspace_bytes() const override { return turned_bytes() + attention_->workspace_bytes(); }

  void run(const Arguments& arguments) const override {
    check(host<const int32_t>(arguments.inputs[kLast]));
    for (const size_t which : {0U, 1U}) {
      each(g_.batch * g_.kv_heads, [&](int64_t at) { fill(arguments, which, at); });
    }
    if (g_.half == 0) return attention_->run(arguments);
    each(g_.batch * g_.length, [&](int64_t token) { turn_queries(arguments, token); });
    Arguments inner = arguments;
    inner.inputs[0] = arguments.workspace;
    inner.workspace = arguments.workspace + turned_bytes();
    attention_->run(inner);
  }

 private:
  template <typename Do>
  static void each(int64_t count, const Do& what) {
    parallel_for(static_cast<uint64_t>(count), 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) what(static_cast<int64_t>(i));
    });
  }

  uint64_t turned_bytes() const {
    const int64_t count = g_.half == 0 ? 0 : g_.batch * g_.length * g_.heads * g_.size;
    return (static_cast<uint64_t>(count) * sizeof(float) + 63) / 64 * 64;
  }
  int64_t past(const int32_t* last, int64_t batch) const { return g_.is_prompt ? 0 : last[batch] + 1 - g_.length; }

  void check(const int32_t* last) const {
    for (int64_t b = 0; b < g_.batch; ++b) {
      if (last[b] < 0 || last[b] >= g_.present) {
        fail(ErrorCode::shape, "the last token is number {}, the caches have room for {}", last[b], g_.present);
      }
      const int64_t kept = past(last, b);
      if (kept < 0) {
        fail(ErrorCode::shape, "{} tokens in all are fewer than the {} new ones", last[b] + 1, g_.length);
      }
      if (g_.half > 0 && kept + g_.length > g_.angles) {
        fail(ErrorCode::shape, "position {} is out of range for {} rows of the cache", kept + g_.length - 1, g_.angles);
      }
    }
  }

  // The keys (0) or values (1) of a head: those of the past, new ones, and zeros.
  void fill(const Arguments& arguments, size_t which, int64_t at) const {
    const int64_t b = at / g_.kv_heads;
    const int64_t kept = past(host<const int32_t>(arguments.inputs[kLast]), b);
    float* to = host<float>(arguments.outputs[1 + which]) + at * g_.present * g_.size;
    if (kept > 0) {
      const float* const old = host<const float>(arguments.inputs[kPast + which]) + at * g_.room * g_.size;
      std::copy_n(old, kept * g_.size, to);
    }
    to += kept * g_.size;
    const GroupQuery::Fresh& fresh = g_.fresh[which];
    const float* from = host<const float>(arguments.inputs[fresh.input]) + b * g_.length * fresh.columns + fresh.first +
                        at % g_.kv_heads * g_.size;
    for (int64_t t = 0; t < g_.length; ++t, from += fresh.columns, to += g_.size) {
      std::copy_n(from, g_.size, to);
      if (which == 0) turn(arguments, kept + t, to);
    }
    std::fill_n(to, (g_.present - kept - g_.length) * g_.size, 0.0F);
  }

  void turn_queries(const Arguments& arguments, int64_t token) const {
    const int64_t width = g_.heads * g_.size;
    float* const to = host<float>(arguments.workspace) + token * width;
    std::copy_n(host<const float>(arguments.inputs[0]) + token * g_.q.columns, width, to);
    const int64_t kept = past(host<const int32_t>(arguments.inputs[kLast]), token / g_.length);
    for (int64_t h = 0; h < g_.heads; ++h) turn(arguments, kept + token % g_.length, to + h * g_.size);
  }

  void turn(const Arguments& arguments, int64_t position, float* head) const {
    if (g_.half == 0) return;
    const float* const cosines = host<const float>(arguments.inputs[kCosines]) + position * g_.half;
    const float* const sines = host<const float>(arguments.inputs[kSines]) + position * g_.half;
    for (int64_t i = 0; i < g_.half; ++i) {
      float& x = head[g_.interleaves ? 2 * i : i];
      float& y = head[g_.interleaves ? 2 * i + 1 : i + g_.half];
      const float turned = cosines[i] * x - sines[i] * y;
      y = sines[i] * x + cosines[i] * y;
      x = turned;
    }
  }

  GroupQuery g_;
  std::unique_ptr<PlainKernel> attention_;
};

}  // namespace

std::unique_ptr<Kernel> make_group_query(const GroupQuery& form) { return std::make_unique<GroupQueryKernel>(form); }

}  // namespace assay::engine::cpu
