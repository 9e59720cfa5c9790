#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "passes/pass.h"

namespace assay::passes {

// y = x * scale + shift with a number of each for every channel, which is axis 1.
struct ChannelAffine {
  std::vector<double> scale;
  std::vector<double> shift;
};

// The affine function of a BatchNormalization at inference with constant parameters; empty for others, and if it is not
// finite.
std::optional<ChannelAffine> batch_normalization(PassRun& run, ir::NodeId node);

// A node that multiplies with constant weights and adds a constant, if any: Conv, ConvTranspose, Gemm, MatMul.
struct Weighted {
  ir::NodeId node;
  const tensor::Tensor* weights = nullptr;
  const tensor::Tensor* bias = nullptr;
  double bias_factor = 1;   // Gemm's beta
  uint64_t channels = 0;    // of the result
  uint64_t inner = 1;       // neighbouring weights of one channel
  uint64_t per_group = 0;   // channels of one group
  uint64_t group_size = 0;  // weights of one group

  // The channel of the result that weight number `index` counts for.
  uint64_t channel(uint64_t index) const { return index / group_size * per_group + index / inner % per_group; }
};

// Empty where the weights are not constant or of a type that is not merged.
std::optional<Weighted> find_convolution(PassRun& run, ir::NodeId node);     // Conv or ConvTranspose
std::optional<Weighted> find_matrix_product(PassRun& run, ir::NodeId node);  // Gemm, or MatMul with a matrix

// The affine function of an Add, Sub, Mul or Div of the convolution's result with a constant; empty for others, and
// unless the constant has one number for each channel, or one for all.
std::optional<ChannelAffine> channel_arithmetic(PassRun& run, ir::NodeId node, const Weighted& convolution);

// The tensor with each element times factor(index), which is the same for so many `neighbours`, rounded once; empty
// where one would leave the range of the type. Kept as the MergeOptions of the run say.
std::optional<tensor::Tensor> scaled(PassRun& run, const tensor::Tensor& tensor, uint64_t neighbours,
                                     std::function<double(uint64_t index)> factor);
std::optional<tensor::Tensor> rounded(tensor::DType dtype, const std::vector<double>& elements);
// The bias of each channel; zeros if there is none. Empty if its shape does not fit.
std::optional<std::vector<double>> bias_of(const Weighted& weighted);

// Commits the weighted node with the affine function behind it in its weights; `behind` uses nothing but its result.
void fold_behind(PassRun& run, const Weighted& weighted, ir::NodeId behind, const ChannelAffine& affine);

}  // namespace assay::passes
