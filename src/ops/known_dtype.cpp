#include "ops/known_dtype.h"

#include "base/error.h"

namespace assay::ops {

void require_known_dtype(std::string_view what, const tensor::Tensor& tensor) {
  if (tensor::is_known(tensor.dtype())) return;
  const bool is_missing = tensor.dtype() == tensor::DType::undefined;
  fail(is_missing ? ErrorCode::shape : ErrorCode::unsupported, "{} is a tensor of {}", what,
       is_missing ? std::string("no element type") : "the unknown element type " + tensor::name(tensor.dtype()));
}

}  // namespace assay::ops
