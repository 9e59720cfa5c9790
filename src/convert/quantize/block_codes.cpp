#include "convert/quantize/block_codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>

#include "base/parallel.h"
#include "convert/quantize/quantizer.h"
#include "convert/quantize/scale_search.h"
#include "tensor/casts.h"

namespace assay::convert {
namespace {

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
  // The place along the axis of the first number of a block; 0 without blocks.
  uint64_t begin_of(uint64_t scale) const { return scale / inner_ % blocks_ * length_; }

  // Calls fn(place) for the numbers with this scale, in order.
  template <typename Fn>
  void visit(uint64_t scale, Fn&& fn) const {
    if (length_ == 0) {
      for (uint64_t outer = 0; outer < outer_; ++outer) {
        const uint64_t first = (outer * axis_ + scale) * inner_;
        for (uint64_t inner = 0; inner < inner_; ++inner) fn(first + inner);
      }
      return;
    }
    const uint64_t begin = begin_of(scale);
    const uint64_t first = scale / inner_ / blocks_ * axis_;
    for (uint64_t i = begin; i < std::min(begin + length_, axis_); ++i) fn((first + i) * inner_ + scale % inner_);
  }

 private:
  uint64_t outer_ = 1;
  uint64_t axis_ = 1;
  uint64_t inner_ = 1;
  uint64_t length_ = 0;
  uint64_t blocks_ = 1;
};

// Blocks have steps that float16 holds: engines read half the bytes of scales, and codes are of what was rounded. Of
// the four bits of a symmetric code one more is below 0 than above: a scale below 0 gives it to the numbers above.
Coding coding_of(std::span<const float> numbers, const Blocks& wanted, const Factors& factors) {
  const int levels = 1 << wanted.bits;
  const int lowest = wanted.asymmetric ? 0 : wanted.narrow ? 1 - levels / 2 : -levels / 2;
  const CodingChoice choice = {.is_asymmetric = wanted.asymmetric,
                               .may_clip = wanted.clips,
                               .may_turn = !wanted.asymmetric && wanted.bits == 4,
                               .rounds_scales = wanted.length > 0};
  const int highest = wanted.asymmetric ? levels - 1 : levels / 2 - 1;
  return best_coding(numbers, static_cast<int16_t>(lowest), static_cast<int16_t>(highest), choice, factors);
}

struct ErrorSums {
  double largest = 0;
  double squares = 0;
  double errors = 0;
  double rounded_squares = 0;
  double products = 0;

  void add(double number, double rounded) {
    largest = std::max(largest, std::fabs(rounded - number));
    squares += number * number;
    errors += (rounded - number) * (rounded - number);
    rounded_squares += rounded * rounded;
    products += number * rounded;
  }
  ErrorSums operator+(const ErrorSums& other) const {
    return {std::max(largest, other.largest), squares + other.squares, errors + other.errors,
            rounded_squares + other.rounded_squares, products + other.products};
  }
  WeightError error() const {
    constexpr double kBel = 10;
    const double lengths = std::sqrt(squares * rounded_squares);
    return {largest, lengths > 0 ? products / lengths : 1, errors > 0 ? kBel * std::log10(squares / errors) : HUGE_VAL};
  }
};

class Coder {
 public:
  Coder(const tensor::Tensor& floats, const Blocks& wanted, const Factors& factors)
      : floats_(floats.bytes()), wanted_(wanted), factors_(factors), layout_(floats.shape(), wanted) {
    result_.shape = floats.shape();
    if (wanted.length == 0) result_.shape = {floats.shape()[wanted.axis]};
    if (wanted.length > 0) result_.shape[wanted.axis] = static_cast<int64_t>(layout_.block_count());
    result_.codes.resize(floats.count());
    result_.scales.resize(layout_.scale_count());
    result_.zero_points.resize(layout_.scale_count());
    if (wanted.type == WeightType::nvfp4) result_.of_tensor = scale_of_tensor(wanted.type, largest_number(floats));
  }

  BlockCodes run() {
    constexpr uint64_t kGrain = 32768;  // numbers
    const uint64_t grain = std::max<uint64_t>(1, kGrain / std::max<uint64_t>(1, layout_.numbers_per_scale()));
    const auto code_piece = [this](uint64_t begin, uint64_t end) {
      ErrorSums sums;
      std::vector<float> numbers;
      for (uint64_t scale = begin; scale < end; ++scale) code_block(scale, numbers, sums);
      return sums;
    };
    result_.error = parallel_reduce(layout_.scale_count(), grain, ErrorSums(), code_piece, std::plus<>()).error();
    // Any scale holds zeros; that of the others also suits what is added to them.
    const float largest = result_.scales.empty() ? 0 : *std::ranges::max_element(result_.scales);
    std::ranges::replace(result_.scales, 0.0F, largest > 0 ? largest : 1.0F);
    return std::move(result_);
  }

 private:
  void code_block(uint64_t scale, std::vector<float>& numbers, ErrorSums& sums) {
    numbers.clear();
    layout_.visit(scale, [&](uint64_t place) { numbers.push_back(number_at(floats_, place)); });
    const Factors factors = factors_.part(layout_.begin_of(scale), numbers.size());
    const BlockCoding coding = block_coding(numbers, wanted_, result_.of_tensor, factors);
    const bool is_zero = std::ranges::all_of(numbers, [](float number) { return number == 0; });
    const bool is_integer = wanted_.type == WeightType::integer;
    result_.scales[scale] = !is_integer ? coding.scale : is_zero ? 0 : coding.integers.scale;
    result_.zero_points[scale] = coding.integers.zero_point;
    size_t i = 0;
    layout_.visit(scale, [&](uint64_t place) {
      const float number = numbers[i++];
      const int16_t code = coding.code(number);
      result_.codes[place] = code;
      sums.add(number, is_integer ? static_cast<double>(code - coding.integers.zero_point) * coding.integers.scale
                                  : double{coding.value(code)});
    });
  }

  tensor::Bytes floats_;
  const Blocks& wanted_;
  const Factors& factors_;
  Layout layout_;
  BlockCodes result_;
};

}  // namespace

BlockCoding block_coding(std::span<const float> numbers, const Blocks& wanted, float of_tensor,
                         const Factors& factors) {
  if (wanted.type != WeightType::integer) return best_small_coding(numbers, wanted.type, of_tensor, factors);
  return {.type = wanted.type, .integers = coding_of(numbers, wanted, factors)};
}

float largest_number(const tensor::Tensor& floats) {
  float largest = 0;
  for (uint64_t i = 0; i < floats.count(); ++i) largest = std::max(largest, std::fabs(number_at(floats.bytes(), i)));
  return largest;
}

WeightError weight_error(std::span<const float> numbers, std::span<const float> rounded) {
  ErrorSums sums;
  for (size_t i = 0; i < numbers.size(); ++i) sums.add(double{numbers[i]}, double{rounded[i]});
  return sums.error();
}

BlockCodes block_codes(const tensor::Tensor& floats, const Blocks& wanted, const Factors& factors) {
  return Coder(floats, wanted, factors).run();
}

std::vector<float> decoded(const BlockCodes& codes, const tensor::Shape& shape, const Blocks& wanted) {
  const Layout layout(shape, wanted);
  std::vector<float> numbers(codes.codes.size());
  for (uint64_t scale = 0; scale < layout.scale_count(); ++scale) {
    BlockCoding coding{.type = wanted.type, .integers = {}, .scale = codes.scales[scale], .of_tensor = codes.of_tensor};
    coding.integers = {.scale = codes.scales[scale], .zero_point = codes.zero_points[scale]};
    layout.visit(scale, [&](uint64_t place) { numbers[place] = coding.value(codes.codes[place]); });
  }
  return numbers;
}

tensor::Tensor pack_codes(std::span<const int16_t> codes, tensor::Shape shape, tensor::DType dtype) {
  constexpr uint64_t kPiece = 4096;
  if (tensor::is_floating(dtype)) {  // by bits
    const tensor::Tensor bits =
        pack_codes(codes, shape, tensor::bit_width(dtype) == 4 ? tensor::DType::uint4 : tensor::DType::uint8);
    return tensor::Tensor(dtype, std::move(shape), bits.storage());
  }
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

}  // namespace assay::convert
