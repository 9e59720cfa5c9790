#include <cmath>

#include "base/parallel.h"
#include "ops/kernels/elements/moments.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void require_channels(const Infer& node) {
  if (!node.is_ranked(0) || node.rank(0) >= 2) return;
  fail(ErrorCode::shape, "the input must have batch and channels, its shape is {}", text(node.dims(0)));
}

void infer_with_length(Infer& node, const Dim& length, std::string_view what) {
  Dim seen = length;
  for (const uint32_t input : {1U, 2U}) {
    node.require_rank(input, 1);
    if (node.is_ranked(input)) seen = unify(seen, node.dims(input)[0], what);
  }
  infer_same_as_first(node);
}

void infer_instance_normalization(Infer& node) {
  require_channels(node);
  infer_with_length(node, node.is_ranked(0) ? node.dims(0)[1] : Dim(), "channels and the lengths of scale and bias");
}

int64_t groups_of(const Node& node) {
  const int64_t groups = node.integer("num_groups");
  if (groups < 1) fail(ErrorCode::shape, "attribute `num_groups` is {}", groups);
  return groups;
}

// Version 18 has one scale and bias for each group, later ones have one for each channel.
void infer_group_normalization(Infer& node) {
  require_channels(node);
  const int64_t groups = groups_of(node);
  const Dim channels = node.is_ranked(0) ? node.dims(0)[1] : Dim();
  if (channels.is_number() && *channels.number() % groups != 0) {
    fail(ErrorCode::shape, "{} groups do not divide {} channels", groups, channels.text());
  }
  const bool is_per_group = node.version() < 21;
  infer_with_length(
      node, is_per_group ? Dim(groups) : channels,
      is_per_group ? "groups and the lengths of scale and bias" : "channels and the lengths of scale and bias");
}

// Each run of `channels` neighbouring channels of an image is normalized by its own moments.
void normalize_groups(Eval& node, uint64_t channels, uint64_t channels_per_scale) {
  std::vector<double> data = node.load<double>(0);
  const std::vector<double> scale = node.load<double>(1);
  const std::vector<double> bias = node.load<double>(2);
  const double epsilon = node.floating("epsilon");
  const auto all = static_cast<uint64_t>(node.shape(0)[1]);
  const uint64_t lines = static_cast<uint64_t>(node.shape(0)[0]) * all;
  const uint64_t inner = lines == 0 ? 0 : data.size() / lines;
  const uint64_t size = channels * inner;
  parallel_for(size == 0 ? 0 : data.size() / size, 1, [&](uint64_t g, uint64_t) {
    double* group = data.data() + g * size;
    const Moments moments = moments_of(size, [&](uint64_t i) { return group[i]; });
    const double deviation = std::sqrt(moments.variance + epsilon);
    for (uint64_t i = 0; i < size; ++i) {
      const uint64_t k = (g * channels + i / inner) % all / channels_per_scale;
      group[i] = (group[i] - moments.mean) / deviation * scale[k] + bias[k];
    }
  });
  node.store(0, std::move(data));
}

void eval_instance_normalization(Eval& node) { normalize_groups(node, 1, 1); }

void eval_group_normalization(Eval& node) {
  const uint64_t channels = static_cast<uint64_t>(node.shape(0)[1] / groups_of(node));
  normalize_groups(node, channels, node.version() < 21 ? std::max<uint64_t>(channels, 1) : 1);
}

}  // namespace

OperatorRows operator_normalization_instance_normalization() {
  static constexpr Operator kRows[] = {
      {.name = "InstanceNormalization",
       .traits = {Nature::normalization},
       .infer = infer_instance_normalization,
       .eval = eval_instance_normalization},
      {.name = "GroupNormalization",
       .since = 18,
       .traits = {Nature::normalization},
       .infer = infer_group_normalization,
       .eval = eval_group_normalization},
  };
  return kRows;
}

}  // namespace assay::ops
