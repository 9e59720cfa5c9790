#include "engine/devices/cpu/copy.h"

#include <array>
#include <cstring>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/rows/floats.h"

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

void run_copy(const TensorDesc& from, const TensorDesc& to, const std::vector<uint8_t>& source,
              std::vector<uint8_t>& target) {
  const std::unique_ptr<Queue> queue = make_device({})->make_queue();
  const Arguments arguments{{host_address(source.data())}, {host_address(target.data())}, {}};
  make_copy(from, to)->bind(arguments)->run(*queue);
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
      run_copy(from, to, source, target);
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

// What one byte after the other gives, some of it no number.
std::vector<uint8_t> drawn_bytes(size_t count, std::mt19937& random) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

// Pictures of few channels are interleaved by whole vectors.
TEST(Copy, FewChannels) {
  std::mt19937 random(5);
  for (const int64_t channels : {2, 3, 4, 5}) {
    for (const int64_t pixels : {1, 7, 31, 64, 65, 300, 70000}) {
      for (const DType dtype : {DType::int8, DType::float16, DType::float32, DType::float64}) {
        const tensor::Shape dims = {1 + pixels % 2, channels, pixels, 1};
        const TensorDesc from = make_desc(dtype, dims);
        const TensorDesc to = make_desc(dtype, dims, Layout::channels_last);
        const std::vector<uint8_t> source = drawn_bytes(from.size_bytes(), random);
        std::vector<uint8_t> target(source.size());
        run_copy(from, to, source, target);
        const std::vector<int64_t> read = places(from);
        const std::vector<int64_t> written = places(to);
        const auto size = static_cast<size_t>(tensor::bit_width(dtype) / 8);
        for (size_t i = 0; i < read.size(); ++i) {
          const auto* const a = source.data() + static_cast<size_t>(read[i]) * size;
          const auto* const b = target.data() + static_cast<size_t>(written[i]) * size;
          ASSERT_EQ(std::memcmp(a, b, size), 0) << channels << " channels, " << pixels << " pixels, element " << i;
        }
      }
    }
  }
}

// A copy that converts gives what a conversion of the copy gives.
TEST(Copy, Conversions) {
  std::mt19937 random(7);
  constexpr std::array kTypes = {DType::float32, DType::bfloat16, DType::float16, DType::uint8};
  for (int round = 0; round < 300; ++round) {
    const DType from_type = kTypes[random() % kTypes.size()];
    const DType to_type = kTypes[random() % 3];
    if (from_type == to_type) continue;
    tensor::Shape dims;
    for (size_t i = 0; i < 1 + random() % 4; ++i)
      dims.push_back(static_cast<int64_t>(1 + random() % (i == 1 ? 4 : 40)));
    if (round % 10 == 0) dims.back() = 700;
    std::vector<size_t> order(dims.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random);
    const TensorDesc from = ordered(from_type, dims, order);
    std::ranges::shuffle(order, random);
    const TensorDesc to = ordered(to_type, dims, order);
    const std::vector<uint8_t> source = drawn_bytes(from.size_bytes(), random);
    std::vector<uint8_t> target(to.size_bytes());
    run_copy(from, to, source, target);
    TensorDesc between = to;
    between.dtype = from_type;
    std::vector<uint8_t> moved(source.size());
    run_copy(from, between, source, moved);
    std::vector<float> numbers(static_cast<size_t>(to.count()));
    load_floats(from_type, moved.data(), numbers.data(), numbers.size());
    std::vector<uint8_t> expected(target.size());
    store_floats(to_type, numbers.data(), expected.data(), numbers.size());
    ASSERT_EQ(target, expected) << round;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
