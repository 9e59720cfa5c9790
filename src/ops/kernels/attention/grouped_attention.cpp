#include "ops/kernels/attention/grouped_attention.h"

#include "base/parallel.h"

namespace assay::ops {

std::vector<double> attend(const GroupedHeads& what, const std::vector<double>& q, const std::vector<double>& k,
                           const std::vector<double>& v, double scale, WeighScores weigh) {
  const AttentionHead& head = what.head;
  std::vector<double> out(what.batch * what.heads * head.queries * head.value_size);
  std::vector<double> scores(head.queries * head.keys);
  for (uint64_t at = 0; at < what.batch * what.heads && !out.empty(); ++at) {
    const uint64_t b = at / what.heads;
    const uint64_t h = at % what.heads;
    const uint64_t kv = b * what.kv_heads + h / (what.heads / what.kv_heads);
    score_head(head, q.data() + at * head.queries * head.size, k.data() + kv * head.keys * head.size, scale,
               scores.data());
    parallel_for(head.queries, 16, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) {
        weigh(b, h, i, std::span(scores).subspan(i * head.keys, head.keys));
      }
    });
    mix_values(head, scores.data(), v.data() + kv * head.keys * head.value_size,
               out.data() + at * head.queries * head.value_size);
  }
  return out;
}

std::vector<double> pack_attended(const std::vector<double>& values, const GroupedHeads& heads) {
  const uint64_t size = heads.head.value_size;
  std::vector<double> result(values.size());
  for (uint64_t i = 0; i < values.size(); ++i) {
    const uint64_t t = i / size % heads.head.queries;
    const uint64_t h = i / size / heads.head.queries;
    result[((h / heads.heads * heads.head.queries + t) * heads.heads + h % heads.heads) * size + i % size] = values[i];
  }
  return result;
}

KeyMask::KeyMask(const Eval& node, uint32_t input, const GroupedHeads& heads)
    : batch_(heads.batch), queries_(heads.head.queries), keys_(heads.head.keys) {
  if (!node.has(input)) return;
  mask_ = node.integers_in(input);
  rank_ = node.shape(input).size();
}

bool KeyMask::hides(uint64_t b, uint64_t i, uint64_t key) const {
  if (rank_ == 0) return false;
  if (rank_ == 3) return mask_[(b * queries_ + i) * keys_ + key] <= 0;
  if (rank_ == 2) return mask_[b * keys_ + key] <= 0;
  const auto place = static_cast<int64_t>(key);
  return place >= mask_[b] || (mask_.size() == 2 * batch_ && place < mask_[batch_ + b]);
}

void check_key_mask(const Infer& node, uint32_t input, const Dim& batch, const Dim& queries, const Dim& keys) {
  if (!node.is_ranked(input)) return;
  const Dims& mask = node.dims(input);
  if (mask.size() == 4) fail(ErrorCode::unsupported, "masks of rank 4 are not supported");
  if (mask.size() == 1) {
    const Dim& length = mask[0];
    const bool is_known = length.is_number() && batch.is_number();
    const bool fits =
        !is_known || length.equals(batch) || length.equals(batch * Dim(2)) || length.equals(batch * Dim(3) + Dim(2));
    if (!fits) fail(ErrorCode::shape, "a mask of {} numbers does not fit a batch of {}", length.text(), batch.text());
    return;
  }
  const Dims wanted = mask.size() == 2 ? Dims{batch, keys} : Dims{batch, queries, keys};
  node.require_rank(input, static_cast<int64_t>(wanted.size()));
  for (size_t a = 0; a < wanted.size(); ++a) unify(mask[a], wanted[a], "dims of the mask and of what it masks");
}

}  // namespace assay::ops
