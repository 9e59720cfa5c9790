#pragma once

#include <cstdint>

#include "convert/layers.h"

namespace assay::convert {

// The form of compressed weights in the model.
enum class WeightForm : uint8_t {
  dequantize,   // DequantizeLinear before the node
  matmulnbits,  // ONNX Runtime's own MatMulNBits in the place of MatMul
  either,       // MatMulNBits where the model's operator set has no DequantizeLinear for such weights
};

// Options for making weights small integers, by default those of Conv, ConvTranspose, Gemm and MatMul.
struct WeightOptions {
  uint32_t bits = 8;        // or 4
  uint64_t block_size = 0;  // numbers with one scale; 0: one scale for each output channel
  bool asymmetric = false;
  WeightForm form = WeightForm::dequantize;
  LayerChoice choice = {};
};

}  // namespace assay::convert
