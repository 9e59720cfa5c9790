#include "tensor/tensor.h"

#include <fmt/format.h>

#include "base/error.h"

namespace assay::tensor {
namespace {

std::string dims_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

}  // namespace

Tensor::Tensor(DType dtype, Shape shape, StoragePtr storage)
    : dtype_(dtype), shape_(std::move(shape)), storage_(std::move(storage)) {
  const std::optional<uint64_t> count = element_count(shape_);
  if (!count) fail(ErrorCode::shape, "dims {} are negative or too large", dims_text(shape_));
  count_ = *count;
  if (bit_width(dtype_) == 0) return;
  const std::optional<uint64_t> needed = packed_bytes(dtype_, count_);
  if (!needed) fail(ErrorCode::shape, "dims {} of {} are too large", dims_text(shape_), name(dtype_));
  if (size_bytes() < *needed) {
    fail(ErrorCode::shape, "{} bytes of data, but {}{} needs {}", size_bytes(), name(dtype_), dims_text(shape_),
         *needed);
  }
}

std::span<const std::string> Tensor::strings() const {
  const std::span<const std::string> all = storage_ ? storage_->strings() : std::span<const std::string>{};
  if (all.size() < count_) {
    fail(ErrorCode::shape, "{} strings of data, but {}{} needs {}", all.size(), name(dtype_), dims_text(shape_),
         count_);
  }
  return all.first(count_);
}

Tensor make_stripped(DType dtype, Shape shape) {
  const uint64_t size_bytes = packed_bytes(dtype, element_count(shape).value_or(0)).value_or(0);
  StoragePtr storage = make_absent(
      size_bytes, Error(ErrorCode::unsupported, "weights were stripped (`surgeon weight-reconstruct` makes some up)"));
  return Tensor(dtype, std::move(shape), std::move(storage));
}

}  // namespace assay::tensor
