#pragma once

#include <cstdint>

#include "convert/layers.h"

namespace assay::convert {

// The form of compressed weights in the model.
enum class WeightForm : uint8_t {
  dequantize,   // DequantizeLinear before the node
  matmulnbits,  // ONNX Runtime's own MatMulNBits in the place of MatMul
  table,        // operators that look numbers up and scale them, which every runtime has
  either,       // MatMulNBits where the model's operator set has no DequantizeLinear for such weights
};

// The type of compressed weights.
enum class WeightType : uint8_t {
  integer,
  fp8,    // float8e4m3fn, a scale for each channel or block
  nvfp4,  // float4e2m1 in blocks of 16 with scales of float8e4m3fn, and one of the tensor
  mxfp4,  // float4e2m1 in blocks of 32 with powers of two
  nf4,    // 16 quantiles of the normal distribution
};

// The way in which numbers are rounded.
enum class WeightAlgorithm : uint8_t {
  rtn,   // each by itself, with scales of the least square error
  awq,   // likewise, channels scaled by what they meet in the layer's inputs
  gptq,  // one after the other, the rest making up for each error, as the layer's inputs weigh them
};

// Options for making weights small numbers, by default those of Conv, ConvTranspose, Gemm and MatMul.
struct WeightOptions {
  WeightType type = WeightType::integer;
  WeightAlgorithm algorithm = WeightAlgorithm::rtn;
  uint32_t bits = 8;        // or 4
  uint64_t block_size = 0;  // numbers with one scale; 0: one scale for each output channel
  bool asymmetric = false;
  WeightForm form = WeightForm::dequantize;
  LayerChoice choice = {};
};

}  // namespace assay::convert
