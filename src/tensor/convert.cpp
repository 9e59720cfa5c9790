#include "tensor/convert.h"

#include <cmath>

#include "base/error.h"
#include "base/parallel.h"
#include "tensor/casts.h"
#include "tensor/elements.h"

namespace assay::tensor {
namespace {

constexpr uint64_t kPiece = uint64_t{1} << 14;  // divisible by the elements of a byte

template <typename C>
void convert_piece(const Tensor& from, DType dtype, std::span<std::byte> to, uint64_t begin, uint64_t end) {
  C elements[512];
  for (uint64_t at = begin; at < end; at += std::size(elements)) {
    const std::span<C> some(elements, std::min<uint64_t>(std::size(elements), end - at));
    load(from.dtype(), from.bytes(), at, some);
    if (dtype == DType::boolean) {
      for (C& element : some) element = element != C{0} ? C{1} : C{0};
    }
    store(dtype, std::span<const C>(some), at, to);
  }
}

// Calls fn with a null pointer to the carrier that holds every element of the type.
template <typename Fn>
void with_carrier(DType dtype, Fn fn) {
  switch (kind(dtype)) {
    case DTypeKind::signed_integer:
      return fn(static_cast<int64_t*>(nullptr));
    case DTypeKind::unsigned_integer:
    case DTypeKind::boolean:
      return fn(static_cast<uint64_t*>(nullptr));
    default:
      return fn(static_cast<double*>(nullptr));
  }
}

bool is_number(DType dtype) { return is_floating(dtype) || is_integer(dtype) || dtype == DType::boolean; }

}  // namespace

Tensor converted(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  if (!is_number(tensor.dtype()) || !is_number(dtype)) {
    fail(ErrorCode::unsupported, "elements of {} cannot be converted to {}", name(tensor.dtype()), name(dtype));
  }
  std::vector<std::byte> bytes(packed_bytes(dtype, tensor.count()).value_or(0));
  with_carrier(tensor.dtype(), [&]<typename C>(C*) {
    parallel_for(tensor.count(), kPiece,
                 [&](uint64_t begin, uint64_t end) { convert_piece<C>(tensor, dtype, bytes, begin, end); });
  });
  return Tensor(dtype, tensor.shape(), make_owned(std::move(bytes)));
}

bool converts_safely(const Tensor& tensor, DType dtype) {
  if (is_floating(dtype) || tensor.dtype() == dtype) return true;
  const Tensor back = converted(converted(tensor, dtype), tensor.dtype());
  bool is_same = false;
  with_carrier(tensor.dtype(), [&]<typename C>(C*) { is_same = load_elements<C>(back) == load_elements<C>(tensor); });
  return is_same;
}

}  // namespace assay::tensor
