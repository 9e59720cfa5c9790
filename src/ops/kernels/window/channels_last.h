#pragma once

#include <span>

#include "ops/eval.h"
#include "ops/infer.h"

namespace assay::ops {

// Dims [batch, in..., channels] as [batch, channels, in...], and back.
template <typename T>
std::vector<T> channels_second(std::vector<T> dims) {
  if (dims.size() < 3) return dims;
  T channels = std::move(dims.back());
  dims.pop_back();
  dims.insert(dims.begin() + 1, std::move(channels));
  return dims;
}
template <typename T>
std::vector<T> channels_back(std::vector<T> dims) {
  if (dims.size() < 3) return dims;
  T channels = std::move(dims[1]);
  dims.erase(dims.begin() + 1);
  dims.push_back(std::move(channels));
  return dims;
}

// For operators that have channels as the last axis of output 0 and of the given inputs: what `infer` and `eval` do
// where channels are axis 1. Only output 0 is set.
void infer_channels_last(Infer& node, std::span<const uint32_t> inputs, void (*infer)(Infer& node));
void eval_channels_last(Eval& node, std::span<const uint32_t> inputs, void (*eval)(Eval& node));

}  // namespace assay::ops
