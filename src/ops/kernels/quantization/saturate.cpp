#include "ops/kernels/quantization/saturate.h"

#include <cmath>

namespace assay::ops {
namespace {

template <typename C>
std::vector<C> truncated(const std::vector<double>& elements, double lowest, double end, C most) {
  std::vector<C> result(elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    const double x = elements[i];
    result[i] = std::isnan(x) ? C{0} : x <= lowest ? static_cast<C>(lowest) : x >= end ? most : static_cast<C>(x);
  }
  return result;
}

}  // namespace

void store_saturated(Eval& node, uint32_t output, std::vector<double> elements) {
  const DType dtype = node.out_dtype(output);
  const auto bits = static_cast<int>(tensor::bit_width(dtype));
  switch (tensor::kind(dtype)) {
    case tensor::DTypeKind::signed_integer: {
      const double end = std::ldexp(1.0, bits - 1);
      const auto most = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
      node.store(output, truncated<int64_t>(elements, -end, end, most));
      break;
    }
    case tensor::DTypeKind::unsigned_integer:
      node.store(output, truncated<uint64_t>(elements, 0, std::ldexp(1.0, bits), ~uint64_t{0} >> (64 - bits)));
      break;
    default:
      node.store(output, std::move(elements));
  }
}

}  // namespace assay::ops
