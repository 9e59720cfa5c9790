#include "passes/quantize/block_codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "base/parallel.h"
#include "tensor/casts.h"

namespace assay::passes {
namespace {

float number_at(tensor::Bytes bytes, uint64_t index) {
  float number = 0;
  std::memcpy(&number, bytes.data() + index * sizeof(float), sizeof(float));
  return number;
}

// A tensor as [outer, length of the axis, inner].
struct Layout {
  uint64_t outer = 1;
  uint64_t axis = 1;
  uint64_t inner = 1;
  uint64_t blocks = 1;

  Layout(const tensor::Shape& shape, const Blocks& wanted) : axis(static_cast<uint64_t>(shape[wanted.axis])) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (i < wanted.axis) outer *= static_cast<uint64_t>(shape[i]);
      if (i > wanted.axis) inner *= static_cast<uint64_t>(shape[i]);
    }
    blocks = (axis + wanted.length - 1) / wanted.length;
  }
  uint64_t scale_count() const { return outer * blocks * inner; }
};

// The numbers of one block, `stride` apart.
struct Block {
  uint64_t first;
  uint64_t stride;
  uint64_t count;
};

Block block_at(const Layout& layout, const Blocks& wanted, uint64_t scale) {
  const uint64_t inner = scale % layout.inner;
  const uint64_t block = scale / layout.inner % layout.blocks;
  const uint64_t outer = scale / layout.inner / layout.blocks;
  const uint64_t begin = block * wanted.length;
  return {(outer * layout.axis + begin) * layout.inner + inner, layout.inner,
          std::min(wanted.length, layout.axis - begin)};
}

struct Coding {
  float scale = 1;
  int16_t zero_point = 0;
  int16_t lowest = 0;
  int16_t highest = 0;

  int16_t code(float number) const {
    const float code = std::nearbyint(number / scale) + static_cast<float>(zero_point);
    return static_cast<int16_t>(std::clamp(code, static_cast<float>(lowest), static_cast<float>(highest)));
  }
};

float usable_scale(double scale) {
  return scale > 0 ? std::max(static_cast<float>(scale), std::numeric_limits<float>::min()) : 1;
}

double square_error(const std::vector<float>& numbers, const Coding& coding) {
  double sum = 0;
  for (const float number : numbers) {
    const double error = static_cast<double>(coding.code(number) - coding.zero_point) * coding.scale - number;
    sum += error * error;
  }
  return sum;
}

// Few levels: a step somewhat smaller than what holds the largest number often loses less in all.
Coding symmetric_coding(const std::vector<float>& numbers, uint32_t bits) {
  const int highest = (1 << (bits - 1)) - 1;
  double largest = 0;
  for (const float number : numbers) largest = std::max(largest, std::fabs(double{number}));
  Coding best = {usable_scale(largest / highest), 0, static_cast<int16_t>(-highest - 1), static_cast<int16_t>(highest)};
  if (bits != 4) return best;
  double least = square_error(numbers, best);
  for (const double levels : {7.5, 8.0, 8.5}) {
    Coding coding = best;
    coding.scale = usable_scale(largest / levels);
    const double error = square_error(numbers, coding);
    if (error >= least) continue;
    least = error;
    best = coding;
  }
  return best;
}

Coding asymmetric_coding(const std::vector<float>& numbers, uint32_t bits) {
  const int highest = (1 << bits) - 1;
  double low = 0;
  double high = 0;
  for (const float number : numbers) {
    low = std::min(low, double{number});
    high = std::max(high, double{number});
  }
  const float scale = usable_scale((high - low) / highest);
  const double zero_point = std::clamp(std::nearbyint(-low / scale), 0.0, static_cast<double>(highest));
  return {scale, static_cast<int16_t>(zero_point), 0, static_cast<int16_t>(highest)};
}

void code_block(tensor::Bytes floats, const Blocks& wanted, const Block& block, uint64_t scale, BlockCodes& result) {
  std::vector<float> numbers(block.count);
  for (uint64_t i = 0; i < block.count; ++i) numbers[i] = number_at(floats, block.first + i * block.stride);
  const Coding coding =
      wanted.asymmetric ? asymmetric_coding(numbers, wanted.bits) : symmetric_coding(numbers, wanted.bits);
  result.scales[scale] = coding.scale;
  result.zero_points[scale] = coding.zero_point;
  for (uint64_t i = 0; i < block.count; ++i) result.codes[block.first + i * block.stride] = coding.code(numbers[i]);
}

uint64_t scale_of(const Layout& layout, const Blocks& wanted, uint64_t number) {
  const uint64_t place = number / layout.inner % layout.axis;
  const uint64_t outer = number / layout.inner / layout.axis;
  return (outer * layout.blocks + place / wanted.length) * layout.inner + number % layout.inner;
}

}  // namespace

BlockCodes block_codes(const tensor::Tensor& floats, const Blocks& wanted) {
  constexpr uint64_t kGrain = 1024;  // blocks
  const Layout layout(floats.shape(), wanted);
  const tensor::Bytes bytes = floats.bytes();
  BlockCodes result;
  result.shape = floats.shape();
  result.shape[wanted.axis] = static_cast<int64_t>(layout.blocks);
  result.codes.resize(floats.count());
  result.scales.resize(layout.scale_count());
  result.zero_points.resize(layout.scale_count());
  parallel_for(layout.scale_count(), kGrain, [&](uint64_t begin, uint64_t end) {
    for (uint64_t s = begin; s < end; ++s) code_block(bytes, wanted, block_at(layout, wanted, s), s, result);
  });
  return result;
}

WeightError block_error(const tensor::Tensor& floats, const Blocks& wanted, const BlockCodes& codes) {
  const Layout layout(floats.shape(), wanted);
  const tensor::Bytes bytes = floats.bytes();
  double squares = 0, errors = 0, rounded_squares = 0, products = 0;
  WeightError error;
  for (uint64_t i = 0; i < codes.codes.size(); ++i) {
    const uint64_t s = scale_of(layout, wanted, i);
    const double number = number_at(bytes, i);
    const double rounded = static_cast<double>(codes.codes[i] - codes.zero_points[s]) * codes.scales[s];
    error.max_abs = std::max(error.max_abs, std::fabs(rounded - number));
    squares += number * number;
    errors += (rounded - number) * (rounded - number);
    rounded_squares += rounded * rounded;
    products += number * rounded;
  }
  const double lengths = std::sqrt(squares * rounded_squares);
  error.cosine = lengths > 0 ? products / lengths : 1;
  constexpr double kBel = 10;
  error.snr_db = errors > 0 ? kBel * std::log10(squares / errors) : HUGE_VAL;
  return error;
}

tensor::Tensor pack_codes(std::span<const int16_t> codes, tensor::Shape shape, tensor::DType dtype) {
  constexpr uint64_t kPiece = 4096;
  const uint64_t bits = codes.size() * tensor::bit_width(dtype);
  std::vector<std::byte> bytes((bits + 7) / 8);
  std::array<int64_t, kPiece> numbers;
  for (uint64_t begin = 0; begin < codes.size(); begin += kPiece) {
    const uint64_t count = std::min(kPiece, codes.size() - begin);
    std::copy_n(codes.begin() + static_cast<std::ptrdiff_t>(begin), count, numbers.begin());
    tensor::store(dtype, std::span<const int64_t>(numbers.data(), count), begin, bytes);
  }
  return tensor::Tensor(dtype, std::move(shape), tensor::make_owned(std::move(bytes)));
}

}  // namespace assay::passes
