#include "runners/value_weakness.h"

#include <algorithm>
#include <complex>
#include <functional>

#include <fmt/format.h>

#include "tensor/casts.h"

namespace assay::cases {
namespace {

using tensor::Datum;
using tensor::DType;
using tensor::DTypeKind;
using tensor::Tensor;

template <typename C, typename Load>
bool is_constant(const Tensor& tensor, uint64_t& zeros, Load&& load) {
  std::vector<C> values(tensor.count());
  load(std::span<C>(values));
  zeros = static_cast<uint64_t>(std::count(values.begin(), values.end(), C{}));
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

std::string tensor_weakness(const Tensor& tensor) {
  constexpr uint64_t kFew = 4;
  constexpr uint64_t kMostZerosPercent = 30;
  const DType dtype = tensor.dtype();
  const DTypeKind kind = tensor::kind(dtype);
  if (tensor.count() <= kFew || kind == DTypeKind::string) return {};
  uint64_t zeros = 0;
  const auto load = [&](auto out) { tensor::load(dtype, tensor.bytes(), 0, out); };
  const auto load_complex = [&](auto out) { tensor::load_complex(dtype, tensor.bytes(), 0, out); };
  bool constant = false;
  if (kind == DTypeKind::floating) {
    constant = is_constant<double>(tensor, zeros, load);
  } else if (kind == DTypeKind::complex) {
    constant = is_constant<std::complex<double>>(tensor, zeros, load_complex);
  } else if (kind == DTypeKind::signed_integer) {
    constant = is_constant<int64_t>(tensor, zeros, load);
  } else {
    constant = is_constant<uint64_t>(tensor, zeros, load);
  }
  if (constant) return "all elements of the expected output are alike";
  if (kind == DTypeKind::boolean || zeros * 100 <= tensor.count() * kMostZerosPercent) return {};
  return fmt::format("{} of {} elements of the expected output are zeros", zeros, tensor.count());
}

}  // namespace

std::string weakness(const Datum& expected) {
  if (expected.is_tensor()) return tensor_weakness(expected.tensor());
  if (!expected.is_sequence()) return {};
  for (const Datum& item : expected.items()) {
    const std::string found = weakness(item);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace assay::cases
