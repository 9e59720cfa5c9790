#include "ir/ir_version.h"

#include <algorithm>

namespace assay::ir {
namespace {

using tensor::DType;

int64_t first_ir_version(DType dtype) {
  switch (dtype) {
    case DType::float8e4m3fn:
    case DType::float8e4m3fnuz:
    case DType::float8e5m2:
    case DType::float8e5m2fnuz:
      return 9;
    case DType::uint4:
    case DType::int4:
      return 10;
    case DType::float4e2m1:
      return 11;
    case DType::float8e8m0:
      return 12;
    case DType::uint2:
    case DType::int2:
      return 13;
    case DType::float6e2m3:
    case DType::float6e3m2:
      return 14;
    default:
      return tensor::is_known(dtype) || dtype == DType::undefined ? 1 : 15;
  }
}

}  // namespace

int64_t needed_ir_version(const Model& model) {
  constexpr int64_t kFunctions = 8;
  constexpr int64_t kOverloads = 10;
  int64_t needed = model.functions().empty() ? 1 : kFunctions;
  for (uint32_t i = 0; i < model.types().size(); ++i) {
    needed = std::max(needed, first_ir_version(model[TypeId{i}].dtype));
  }
  for (uint32_t i = 0; i < model.tensor_slots(); ++i) {
    const TensorEntry& entry = model[TensorId{i}];
    needed = std::max(needed, first_ir_version(entry.sparse ? entry.sparse->values.dtype() : entry.tensor.dtype()));
  }
  for (const Function& function : model.functions()) {
    if (function.overload != kEmpty) needed = std::max(needed, kOverloads);
  }
  return needed;
}

}  // namespace assay::ir
