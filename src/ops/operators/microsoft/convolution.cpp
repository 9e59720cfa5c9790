#include "ops/kernels/window/convolution.h"

#include <array>

#include "ops/kernels/window/channels_last.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr std::array<uint32_t, 2> kImages = {0, 3};  // the input, and what is added to the result

const Operator& fused() { return *find_operator(kMicrosoft, "FusedConv", 1); }

void infer_fused(Infer& node) { infer_channels_last(node, kImages, fused().infer); }
void eval_fused(Eval& node) { eval_channels_last(node, kImages, fused().eval); }

const Operator& quantized() { return *find_operator("", "QLinearConv", 10); }

void infer_quantized(Infer& node) {
  if (!node.flag("channels_last")) return quantized().infer(node);
  infer_channels_last(node, std::span(kImages).first(1), quantized().infer);
}

void eval_quantized(Eval& node) {
  if (!node.flag("channels_last")) return quantized().eval(node);
  eval_channels_last(node, std::span(kImages).first(1), quantized().eval);
}

Dim macs_of_conv(const Infer& node) { return convolution_macs(node, 1); }
Dim macs_of_quantized(const Infer& node) { return convolution_macs(node, 3); }

}  // namespace

OperatorRows operator_microsoft_convolution() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "NhwcConv",
       .traits = {Nature::product},
       .infer = infer_fused,
       .eval = eval_fused,
       .macs = macs_of_conv},
      {.domain = kMicrosoft,
       .name = "NhwcFusedConv",
       .traits = {Nature::product},
       .infer = infer_fused,
       .eval = eval_fused,
       .macs = macs_of_conv},
      {.domain = kMicrosoft,
       .name = "QLinearConv",
       .traits = {Nature::product, {.rounding = RoundingClass::coded, .codes = {0, 3}, .scales = {1, 4, 6}}},
       .infer = infer_quantized,
       .eval = eval_quantized,
       .macs = macs_of_quantized},
  };
  return kRows;
}

}  // namespace assay::ops
