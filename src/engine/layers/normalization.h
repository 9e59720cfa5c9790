#pragma once

#include <optional>
#include <vector>

#include "engine/layers/layer.h"

namespace assay::engine {

// A normalisation over the innermost dims, as an operator or written out in operators.
struct NormForm {
  int data = 0, scale = -1, shift = -1;  // inputs; -1: there are none
  int64_t count = 1, inner = 1;          // rows, and elements of a row
  float epsilon = 0;
  bool is_rms = false;  // nothing is subtracted
};
std::optional<NormForm> find_norm(const Layer& layer);

// Softmax or LogSoftmax along an axis, or, as they were before version 13, over all dims from it on.
struct SoftmaxForm {
  bool is_log = false;
  bool flattens = false;
  int64_t axis = 0;
};
std::optional<SoftmaxForm> find_softmax(const Layer& layer);

// InstanceNormalization and GroupNormalization, as operators, or groups of channels that Reshapes make channels of.
struct ChannelNormForm {
  int data = 0, scale = 1, shift = 2;  // inputs
  int64_t batch = 0, channels = 0, pixels = 0, groups = 0;
  int64_t per_number = 1;  // channels that share a factor and a shift
  double epsilon = 0;

  int64_t per_group() const { return channels / groups; }
};
std::optional<ChannelNormForm> find_channel_norm(const Layer& layer);

// A normalisation of groups of channels that this node computes between Reshapes, with the product and the sum behind
// them where these have a number for each channel; empty: it is something else.
std::vector<ir::NodeId> group_norm_nodes(const ir::Model& model, const ops::Inference& inference, ir::NodeId node,
                                         const ConstantOf& constant);

}  // namespace assay::engine
