#include "ops/kernels/text/grams.h"

#include <algorithm>

namespace assay::ops {
namespace {

// Python's remainder: it has the sign of the divisor.
int64_t remainder_of(int64_t number, int64_t divisor) {
  if (divisor <= 0) fail(ErrorCode::shape, "a size of `vocab_sizes` is {}", divisor);
  const int64_t rest = number % divisor;
  return rest < 0 ? rest + divisor : rest;
}

// Products wrap around in the type of the ids.
int64_t wrapped(uint64_t number, DType dtype) {
  return dtype == DType::int32 ? static_cast<int32_t>(static_cast<uint32_t>(number)) : static_cast<int64_t>(number);
}

}  // namespace

GramContext::GramContext(const Eval& node, uint32_t end)
    : longest_(static_cast<uint64_t>(node.integer("max_ngram_size"))) {
  if (node.has(end)) end_ = node.integers_in(end).at(0);
  missing_ = end_.value_or(node.integer("pad_id"));
  resets_ = end_ && node.flag("reset_on_eos");
}

void GramContext::begin(const std::vector<int64_t>& past, uint64_t row) {
  ids_.assign(longest_ - 1, missing_);
  segments_.clear();
  for (uint64_t i = 0; i < longest_ - 1 && !past.empty(); ++i) ids_[i] = past[row * (longest_ - 1) + i];
}

// Without segments of the past, it has that of the first id.
void GramContext::add_segments(std::span<const int64_t> segments) {
  if (segments_.empty() && !segments.empty()) segments_.assign(longest_ - 1, segments.front());
  segments_.insert(segments_.end(), segments.begin(), segments.end());
}

int64_t GramContext::before(uint64_t position, uint64_t shift) const {
  const uint64_t at = position + longest_ - 1;
  for (uint64_t s = 1; s <= shift; ++s) {
    if (resets_ && ids_[at - s] == *end_) return *end_;
    if (!segments_.empty() && segments_[at - s] != segments_[at - s + 1]) return missing_;
  }
  return ids_[at - shift];
}

GramHashes::GramHashes(const Eval& node, uint32_t offsets)
    : longest_(static_cast<uint64_t>(node.integer("max_ngram_size"))),
      per_size_(static_cast<uint64_t>(node.integer("n_head_per_ngram"))),
      dtype_(node.tensor_in(0).dtype()),
      factors_(node.integers_in(1)),
      sizes_(node.integers_in(2)),
      offsets_(sizes_.size()) {
  if (node.has(offsets)) offsets_ = node.integers_in(offsets);
  if (factors_.size() < longest_) fail(ErrorCode::shape, "{} multipliers, {} are needed", factors_.size(), longest_);
}

void GramHashes::add_to(std::vector<int64_t>& hashes, const GramContext& context, uint64_t length) const {
  for (uint64_t t = 0; t < length; ++t) {
    uint64_t mix = static_cast<uint64_t>(context.before(t, 0)) * static_cast<uint64_t>(factors_[0]);
    for (uint64_t n = 1; n < longest_; ++n) {
      mix ^= static_cast<uint64_t>(context.before(t, n)) * static_cast<uint64_t>(factors_[n]);
      for (uint64_t h = (n - 1) * per_size_; h < n * per_size_; ++h) {
        const auto rest = static_cast<uint64_t>(remainder_of(wrapped(mix, dtype_), sizes_[h]));
        hashes.push_back(static_cast<int64_t>(rest + static_cast<uint64_t>(offsets_[h])));
      }
    }
  }
}

}  // namespace assay::ops
