#include "debug/cut_block.h"

#include <algorithm>
#include <functional>

#include "base/error.h"

namespace assay::debug {
namespace {

// The beginning of a row of the block in the whole, in bytes.
uint64_t start_of(uint64_t row, const tensor::Shape& block, const tensor::Shape& whole, uint64_t width) {
  uint64_t from = 0;
  uint64_t stride = width * static_cast<uint64_t>(whole.back());
  for (size_t axis = block.size() - 1; axis-- > 0;) {
    from += row % static_cast<uint64_t>(block[axis]) * stride;
    row /= static_cast<uint64_t>(block[axis]);
    stride *= static_cast<uint64_t>(whole[axis]);
  }
  return from;
}

}  // namespace

tensor::Tensor cut_block(const tensor::Tensor& tensor, const tensor::Shape& shape) {
  const tensor::Shape& whole = tensor.shape();
  if (shape == whole) return tensor;
  const uint64_t width = tensor::bit_width(tensor.dtype()) / 8;
  const bool is_within = shape.size() == whole.size() && std::ranges::equal(shape, whole, std::less_equal());
  if (width == 0 || !is_within) fail(ErrorCode::unsupported, "a tensor cannot be cut to this shape");
  std::vector<std::byte> bytes(tensor::element_count(shape).value_or(0) * width);
  const uint64_t row_bytes = static_cast<uint64_t>(shape.back()) * width;
  for (uint64_t row = 0; row * row_bytes < bytes.size(); ++row) {
    const tensor::Bytes source = tensor.bytes().subspan(start_of(row, shape, whole, width), row_bytes);
    std::ranges::copy(source, bytes.begin() + static_cast<std::ptrdiff_t>(row * row_bytes));
  }
  return {tensor.dtype(), shape, tensor::make_owned(std::move(bytes))};
}

}  // namespace assay::debug
