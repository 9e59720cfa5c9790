#include "ops/kernels/elements/result_type.h"

#include "schema/schema.h"

namespace assay::ops {

using tensor::DType;

bool may_give(const Node& node, DType dtype) {
  if (dtype == DType::undefined || !tensor::is_known(dtype)) return false;
  return !node.schema() || (node.schema()->outputs[0].types.tensors & schema::set_of(dtype)) != 0;
}

DType result_type(const Node& node, std::string_view attribute) {
  const int64_t number = node.integer(attribute);
  const auto dtype = static_cast<DType>(number > 0 && number < 32 ? number : 0);
  if (!may_give(node, dtype)) fail(ErrorCode::shape, "attribute `{}` cannot be {}", attribute, number);
  return dtype;
}

}  // namespace assay::ops
