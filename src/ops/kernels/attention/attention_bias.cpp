#include "ops/kernels/attention/attention_bias.h"

#include <algorithm>

namespace assay::ops {

int64_t attention_window(const Node& node, std::string_view name) {
  const int64_t size = node.integer(name, -1);
  if (size < -1) fail(ErrorCode::shape, "attribute `{}` is {}, expected -1 or more", name, size);
  return size;
}

AttentionBias::AttentionBias(const Eval& node, const Shape& scores)
    : scores_(scores),
      is_causal_(node.flag("is_causal")),
      left_(attention_window(node, "left_window_size")),
      right_(attention_window(node, "right_window_size")) {
  if (node.has(AttentionInputs::kValidKeys)) valid_ = node.integers_in(AttentionInputs::kValidKeys);
  if (node.has(AttentionInputs::kPastKey)) past_ = node.shape(AttentionInputs::kPastKey)[2];
  if (!node.has(AttentionInputs::kMask)) return;
  const Shape& mask = node.shape(AttentionInputs::kMask);
  mask_length_ = static_cast<uint64_t>(mask.back());
  is_boolean_ = node.dtype(AttentionInputs::kMask) == DType::boolean;
  reader_.emplace(node.tensor_in(AttentionInputs::kMask), Shape{scores[0], scores[1], scores[2], mask.back()});
}

void AttentionBias::row(uint64_t b, uint64_t head, uint64_t i, std::span<double> out) const {
  std::ranges::fill(out, 0.0);
  if (reader_) read_mask((head * static_cast<uint64_t>(scores_[2]) + i) * mask_length_, out);
  const int64_t offset = valid_.empty() ? past_ : valid_[b] - scores_[2];
  const int64_t place = static_cast<int64_t>(i) + offset;
  for (int64_t j = 0; j < static_cast<int64_t>(out.size()); ++j) {
    const bool is_hidden = (is_causal_ && j > place) || (left_ >= 0 && place - j > left_) ||
                           (right_ >= 0 && j - place > right_) || (!valid_.empty() && j >= valid_[b]);
    if (is_hidden) out[static_cast<size_t>(j)] = kMasked;
  }
}

// Keys behind the end of the mask are hidden.
void AttentionBias::read_mask(uint64_t first, std::span<double> out) const {
  reader_->read(first, out.first(mask_length_));
  std::ranges::fill(out.subspan(mask_length_), kMasked);
  if (!is_boolean_) return;
  for (double& x : out.first(mask_length_)) x = x != 0 ? 0 : kMasked;
}

}  // namespace assay::ops
