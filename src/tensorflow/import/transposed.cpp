#include <algorithm>
#include <cstring>

#include "tensor/derived.h"
#include "tensorflow/import/builder.h"

namespace assay::tensorflow {
namespace {

// The distance in bytes between neighbours of each dimension.
std::vector<uint64_t> byte_strides(const tensor::Shape& shape, uint64_t width) {
  std::vector<uint64_t> strides(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = width;
    width *= static_cast<uint64_t>(shape[i]);
  }
  return strides;
}

void copy_transposed(const tensor::Tensor& tensor, const Ints& order, std::span<std::byte> target) {
  const size_t rank = order.size();
  const uint64_t width = tensor::bit_width(tensor.dtype()) / 8;
  const std::vector<uint64_t> written = byte_strides(tensor.shape(), width);
  std::vector<uint64_t> strides(rank);
  std::vector<uint64_t> sizes(rank);
  for (size_t i = 0; i < rank; ++i) {
    strides[i] = written[static_cast<size_t>(order[i])];
    sizes[i] = static_cast<uint64_t>(tensor.shape()[static_cast<size_t>(order[i])]);
  }
  const Bytes bytes = tensor.bytes();
  std::vector<uint64_t> at(rank);
  uint64_t from = 0;
  for (uint64_t to = 0; to < target.size(); to += width) {
    std::memcpy(target.data() + to, bytes.data() + from, width);
    for (size_t i = rank; i-- > 0;) {
      from += strides[i];
      if (++at[i] < sizes[i]) break;
      from -= strides[i] * sizes[i];
      at[i] = 0;
    }
  }
}

}  // namespace

tensor::Tensor transposed(const tensor::Tensor& tensor, const Ints& order) {
  tensor::Shape shape;
  for (const int64_t axis : order) shape.push_back(tensor.shape()[static_cast<size_t>(axis)]);
  const uint64_t size = tensor.count() * (tensor::bit_width(tensor.dtype()) / 8);
  auto fill = [tensor, order](std::span<std::byte> target) { copy_transposed(tensor, order, target); };
  return {tensor.dtype(), std::move(shape), tensor::make_derived(size, std::move(fill))};
}

}  // namespace assay::tensorflow
