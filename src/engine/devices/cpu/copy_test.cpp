#include "engine/devices/cpu/copy.h"

#include <cstring>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "engine/devices/cpu/device.h"

namespace assay::engine::cpu {
namespace {

using tensor::DType;

// Dense, its dims in this order from the outermost.
TensorDesc ordered(DType dtype, const tensor::Shape& dims, const std::vector<size_t>& order) {
  TensorDesc desc{dtype, dims, dims};
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0; stride *= dims[order[i]]) desc.strides[order[i]] = stride;
  return desc;
}

// Where each element lies, in the order of the dims.
std::vector<int64_t> places(const TensorDesc& desc) {
  std::vector<int64_t> found(static_cast<size_t>(desc.count()));
  for (size_t i = 0; i < found.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    for (size_t d = desc.dims.size(); d-- > 0; rest /= desc.dims[d]) found[i] += rest % desc.dims[d] * desc.strides[d];
  }
  return found;
}

TEST(Copy, AnyOrderOfDims) {
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    for (const DType dtype : {DType::int8, DType::float16, DType::float32, DType::float64, DType::complex128}) {
      const size_t rank = 1 + random() % 4;
      tensor::Shape dims;
      for (size_t i = 0; i < rank; ++i) dims.push_back(static_cast<int64_t>(1 + random() % (i % 2 == 0 ? 40 : 19)));
      std::vector<size_t> order(rank);
      std::iota(order.begin(), order.end(), 0);
      std::ranges::shuffle(order, random);
      const TensorDesc from = ordered(dtype, dims, order);
      std::ranges::shuffle(order, random);
      const TensorDesc to = ordered(dtype, dims, order);
      const auto size = static_cast<size_t>(tensor::bit_width(dtype) / 8);
      std::vector<uint8_t> source(from.size_bytes());
      for (uint8_t& byte : source) byte = static_cast<uint8_t>(random());
      std::vector<uint8_t> target(source.size());
      const std::unique_ptr<Kernel> kernel = make_copy(from, to);
      kernel->bind({{{reinterpret_cast<uint64_t>(source.data())}}, {{reinterpret_cast<uint64_t>(target.data())}}, {}})
          ->run();
      const std::vector<int64_t> read = places(from);
      const std::vector<int64_t> written = places(to);
      for (size_t i = 0; i < read.size(); ++i) {
        const auto* const a = source.data() + static_cast<size_t>(read[i]) * size;
        const auto* const b = target.data() + static_cast<size_t>(written[i]) * size;
        ASSERT_EQ(std::memcmp(a, b, size), 0) << round << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
