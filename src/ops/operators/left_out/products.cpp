#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_first(Infer& node) {
  if (node.is_ranked(0)) node.set_dims(0, node.dims(0));
}

}  // namespace

// Products and small operators that ONNX Runtime has on cards or for training only.
OperatorRows operator_left_out_products() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft, .name = "BitmaskBiasDropout", .traits = {Nature::noise}, .infer = infer_first},
      {.domain = kMicrosoft, .name = "BitmaskDropout", .traits = {Nature::noise}, .infer = infer_first},
      {.domain = kMicrosoft,
       .name = "DequantizeWithOrder",
       .traits = {Nature::quantization, {.codes = {0}, .scales = {1}, .coding = Coding::decodes}},
       .infer = infer_first},
      {.domain = kMicrosoft, .name = "FusedMatMulActivation", .traits = {Nature::product}},
      {.domain = kMicrosoft, .name = "GemmFloat8", .traits = {Nature::product, {.scales = {3, 4, 5}}}},
      {.domain = kMicrosoft, .name = "MatMulFpQ4", .traits = {Nature::product, {.codes = {1}}}},
      {.domain = kMicrosoft, .name = "MaxpoolWithMask", .traits = {Nature::pool}},
      {.domain = kMicrosoft,
       .name = "QOrderedGelu",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::coded, .codes = {0}, .scales = {1, 2}}},
       .infer = infer_first},
      {.domain = kMicrosoft,
       .name = "QOrderedLayerNormalization",
       .traits = {Nature::normalization, {.rounding = RoundingClass::coded, .codes = {0}, .scales = {1, 4}}},
       .infer = infer_first},
      {.domain = kMicrosoft,
       .name = "QOrderedMatMul",
       .traits = {Nature::product, {.rounding = RoundingClass::coded, .codes = {0, 2}, .scales = {1, 3, 4}}}},
      {.domain = kMicrosoft,
       .name = "QuantizeWithOrder",
       .traits = {Nature::quantization, {.scales = {1}, .coding = Coding::encodes}},
       .infer = infer_first},
  };
  return kRows;
}

}  // namespace assay::ops
