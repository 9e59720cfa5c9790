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

// A tensor as [outer, length of the axis, inner], and which numbers share a scale.
class Layout {
 public:
  Layout(const tensor::Shape& shape, const Blocks& wanted)
      : axis_(static_cast<uint64_t>(shape[wanted.axis])), length_(wanted.length) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (i < wanted.axis) outer_ *= static_cast<uint64_t>(shape[i]);
      if (i > wanted.axis) inner_ *= static_cast<uint64_t>(shape[i]);
    }
    if (length_ > 0) blocks_ = (axis_ + length_ - 1) / length_;
  }

  uint64_t scale_count() const { return length_ > 0 ? outer_ * blocks_ * inner_ : axis_; }
  uint64_t block_count() const { return blocks_; }
  uint64_t numbers_per_scale() const { return length_ > 0 ? length_ : outer_ * inner_; }

  uint64_t scale_of(uint64_t number) const {
    const uint64_t place = number / inner_ % axis_;
    if (length_ == 0) return place;
    return (number / inner_ / axis_ * blocks_ + place / length_) * inner_ + number % inner_;
  }

  // The places of the numbers with this scale, in order.
  std::vector<uint64_t> numbers_of(uint64_t scale) const {
    std::vector<uint64_t> places;
    if (length_ == 0) {
      for (uint64_t outer = 0; outer < outer_; ++outer) {
        for (uint64_t inner = 0; inner < inner_; ++inner) places.push_back((outer * axis_ + scale) * inner_ + inner);
      }
      return places;
    }
    const uint64_t begin = scale / inner_ % blocks_ * length_;
    const uint64_t first = scale / inner_ / blocks_ * axis_;
    for (uint64_t i = begin; i < std::min(begin + length_, axis_); ++i) {
      places.push_back((first + i) * inner_ + scale % inner_);
    }
    return places;
  }

 private:
  uint64_t outer_ = 1;
  uint64_t axis_ = 1;
  uint64_t inner_ = 1;
  uint64_t length_ = 0;
  uint64_t blocks_ = 1;
};

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

void code_block(tensor::Bytes floats, const Blocks& wanted, const Layout& layout, uint64_t scale, BlockCodes& result) {
  const std::vector<uint64_t> places = layout.numbers_of(scale);
  std::vector<float> numbers(places.size());
  for (size_t i = 0; i < places.size(); ++i) numbers[i] = number_at(floats, places[i]);
  const Coding coding =
      wanted.asymmetric ? asymmetric_coding(numbers, wanted.bits) : symmetric_coding(numbers, wanted.bits);
  result.scales[scale] = coding.scale;
  result.zero_points[scale] = coding.zero_point;
  for (size_t i = 0; i < places.size(); ++i) result.codes[places[i]] = coding.code(numbers[i]);
}

}  // namespace

BlockCodes block_codes(const tensor::Tensor& floats, const Blocks& wanted) {
  constexpr uint64_t kGrain = 32768;  // numbers
  const Layout layout(floats.shape(), wanted);
  const tensor::Bytes bytes = floats.bytes();
  BlockCodes result;
  result.shape = floats.shape();
  if (wanted.length == 0) {
    result.shape = {floats.shape()[wanted.axis]};
  } else {
    result.shape[wanted.axis] = static_cast<int64_t>(layout.block_count());
  }
  result.codes.resize(floats.count());
  result.scales.resize(layout.scale_count());
  result.zero_points.resize(layout.scale_count());
  const uint64_t grain = std::max<uint64_t>(1, kGrain / std::max<uint64_t>(1, layout.numbers_per_scale()));
  parallel_for(layout.scale_count(), grain, [&](uint64_t begin, uint64_t end) {
    for (uint64_t s = begin; s < end; ++s) code_block(bytes, wanted, layout, s, result);
  });
  return result;
}

WeightError block_error(const tensor::Tensor& floats, const Blocks& wanted, const BlockCodes& codes) {
  const Layout layout(floats.shape(), wanted);
  const tensor::Bytes bytes = floats.bytes();
  double squares = 0, errors = 0, rounded_squares = 0, products = 0;
  WeightError error;
  for (uint64_t i = 0; i < codes.codes.size(); ++i) {
    const uint64_t s = layout.scale_of(i);
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
