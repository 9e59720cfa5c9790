#include "ops/operator.h"

namespace assay::ops {

// Operators that the reference does not compute: they have traits alone.
OperatorRows operator_left_out_left_out() {
  static constexpr Operator kRows[] = {
      {.name = "ImageDecoder", .since = 20, .traits = {Nature::generator}},
      {.domain = "ai.onnx.preview.training", .name = "Gradient", .traits = {Nature::training}},
      {.domain = kMicrosoft, .name = "DequantizeBFP", .traits = {Nature::quantization, {.coding = Coding::decodes}}},
      {.domain = kMicrosoft, .name = "QuantizeBFP", .traits = {Nature::quantization}},
      {.domain = kMicrosoft, .name = "SampleOp", .traits = {Nature::elementwise}},
      {.domain = kMicrosoft, .name = "SparseToDenseMatMul", .traits = {Nature::product}},
  };
  return kRows;
}

}  // namespace assay::ops
