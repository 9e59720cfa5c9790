#include "ops/kernels/quantization/dynamic_codes.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_dynamic_quantize(Infer& node) {
  infer_same_as_first(node);
  node.set_dims(1, {});
  node.set_dims(2, {});
}

void eval_dynamic_quantize(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  const DynamicCodes found = to_dynamic_codes(data, node.is_wide(), node.code_draw());
  node.store(0, std::move(data));
  node.store(1, std::vector<double>{found.scale});
  node.store(2, std::vector<double>{found.zero});
}

}  // namespace

OperatorRows operator_quantization_dynamic_quantize() {
  static constexpr Operator kRows[] = {
      {.name = "DynamicQuantizeLinear",
       .traits = {Nature::quantization, {.coding = Coding::encodes_by_range}},
       .infer = infer_dynamic_quantize,
       .eval = eval_dynamic_quantize},
  };
  return kRows;
}

}  // namespace assay::ops
