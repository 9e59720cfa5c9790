#pragma once

#include <optional>

#include "engine/devices/cpu/onednn/operation.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/layers/quantization.h"

namespace assay::engine::cpu::onednn {

// The epilogue of a product in its layer: operations that the library appends itself, and a tape for the rest.
struct Epilogue {
  struct Step {
    int added = -1;                                  // an input of the layer that lies like its result; -1: none
    tensor::DType dtype = tensor::DType::undefined;  // of what is added
    Eltwise eltwise;
  };
  // The operations as the library is told them, for a part of the result.
  std::vector<Appended> appended(const Library& library, const tensor::Shape& dims, const tensor::Shape& strides) const;

  float unit = 1;  // of the numbers that a product of integers gives to the steps
  std::vector<Step> steps;
  std::optional<Quantizer> quantizer;  // of products of integers: the codes that the library makes of the result
  Tape tape;
};

// oneDNN's numbers of operations on elements.
inline constexpr int kRelu = 32;
inline constexpr int kLinear = 38;
inline constexpr int kSwish = 44;
inline constexpr int kClip = 47;
inline constexpr int kGelu = 49;  // by erf
inline constexpr int kRound = 50;
inline constexpr int kHardSwish = 52;

// The library's operation for a step; nullopt: it has none, or one that tapes do faster.
std::optional<Eltwise> appended_eltwise(const Chain::Step& step);
// Makes the epilogue of layer.nodes after the first `done`. The library adds a tensor itself if it may. Returns nullopt
// if no tape computes the rest.
std::optional<Epilogue> make_epilogue(const Layer& layer, bool adds, size_t done = 1);
// The factors of the numbers that a product of integers gives to its epilogue, and its bias in their unit.
std::pair<Scaling, std::vector<float>> scaling_of(const QuantizedProduct& product, const Epilogue& epilogue);
// Makes the epilogue of a product of integers, by the library alone; nullopt: it does not have all of the operations.
std::optional<Epilogue> make_integer_epilogue(const Layer& layer, size_t done);

}  // namespace assay::engine::cpu::onednn
