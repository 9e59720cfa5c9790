#include "convert/quantize/block_codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>

#include "base/parallel.h"
#include "convert/quantize/quantizer.h"
#include "tensor/casts.h"
#include "tensor/float_format.h"

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
    const uint64_t begin = scale / inner_ % blocks_ * length_;
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

// Blocks have steps that float16 holds: engines read half the bytes of scales, and codes are of what was rounded.
float step_of(double exact, const Blocks& wanted) {
  const float step = usable_scale(exact);
  if (wanted.length == 0 || step < 0x1p-14F || step >= 0x1.FFCp15F) return step;
  return static_cast<float>(tensor::decode<tensor::kFloat16>(tensor::encode<tensor::kFloat16>(step)));
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

double square_error(const std::vector<float>& numbers, const Coding& coding) {
  double sum = 0;
  for (const float number : numbers) {
    const double error = static_cast<double>(coding.code(number) - coding.zero_point) * coding.scale - number;
    sum += error * error;
  }
  return sum;
}

// The scale that loses least with the codes that this one gives.
Coding refitted(const std::vector<float>& numbers, Coding coding, const Blocks& wanted) {
  double products = 0;
  double squares = 0;
  for (const float number : numbers) {
    const double code = coding.code(number) - coding.zero_point;
    products += code * number;
    squares += code * code;
  }
  if (squares > 0) coding.scale = std::copysign(step_of(std::fabs(products / squares), wanted), coding.scale);
  return coding;
}

// Few levels: a step somewhat smaller than what holds the largest number often loses less in all.
Coding best_of(const std::vector<float>& numbers, std::span<const Coding> codings, const Blocks& wanted) {
  Coding best = codings[0];
  double least = square_error(numbers, best);
  const auto judge = [&](const Coding& coding) {
    const double error = square_error(numbers, coding);
    if (error >= least) return;
    least = error;
    best = coding;
  };
  for (const Coding& coding : codings.subspan(1)) judge(coding);
  for (int round = 0; round < 2; ++round) judge(refitted(numbers, best, wanted));
  return best;
}

// Of the codes one more is below 0 than above: a scale below 0 gives it to the numbers above.
Coding symmetric_coding(const std::vector<float>& numbers, const Blocks& wanted) {
  const int highest = (1 << (wanted.bits - 1)) - 1;
  double largest = 0;
  for (const float number : numbers) largest = std::max(largest, std::fabs(double{number}));
  Coding best = {step_of(largest / highest, wanted), 0, static_cast<int16_t>(-highest - 1),
                 static_cast<int16_t>(highest)};
  if (wanted.bits != 4) return best;
  std::vector<Coding> codings{best};
  for (const double levels : {7.5, 8.0, 8.5, 9.0}) {
    best.scale = step_of(largest / levels, wanted);
    codings.push_back(best);
    best.scale = -best.scale;
    codings.push_back(best);
  }
  return best_of(numbers, codings, wanted);
}

Coding coding_between(double low, double high, const Blocks& wanted) {
  const int highest = (1 << wanted.bits) - 1;
  const float scale = step_of((high - low) / highest, wanted);
  const double zero_point = std::clamp(std::nearbyint(-low / scale), 0.0, static_cast<double>(highest));
  return {scale, static_cast<int16_t>(zero_point), 0, static_cast<int16_t>(highest)};
}

Coding asymmetric_coding(const std::vector<float>& numbers, const Blocks& wanted) {
  double low = 0;
  double high = 0;
  for (const float number : numbers) {
    low = std::min(low, double{number});
    high = std::max(high, double{number});
  }
  if (wanted.bits != 4) return coding_between(low, high, wanted);
  std::vector<Coding> codings;
  for (const double share : {1.0, 0.95, 0.9, 0.85, 0.8}) {
    codings.push_back(coding_between(low * share, high * share, wanted));
    codings.push_back(coding_between(low * share, high, wanted));
    codings.push_back(coding_between(low, high * share, wanted));
  }
  return best_of(numbers, codings, wanted);
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
  Coder(const tensor::Tensor& floats, const Blocks& wanted)
      : floats_(floats.bytes()), wanted_(wanted), layout_(floats.shape(), wanted) {
    result_.shape = floats.shape();
    if (wanted.length == 0) result_.shape = {floats.shape()[wanted.axis]};
    if (wanted.length > 0) result_.shape[wanted.axis] = static_cast<int64_t>(layout_.block_count());
    result_.codes.resize(floats.count());
    result_.scales.resize(layout_.scale_count());
    result_.zero_points.resize(layout_.scale_count());
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
    return std::move(result_);
  }

 private:
  void code_block(uint64_t scale, std::vector<float>& numbers, ErrorSums& sums) {
    numbers.clear();
    layout_.visit(scale, [&](uint64_t place) { numbers.push_back(number_at(floats_, place)); });
    const Coding coding = wanted_.asymmetric ? asymmetric_coding(numbers, wanted_) : symmetric_coding(numbers, wanted_);
    result_.scales[scale] = coding.scale;
    result_.zero_points[scale] = coding.zero_point;
    size_t i = 0;
    layout_.visit(scale, [&](uint64_t place) {
      const float number = numbers[i++];
      const int16_t code = coding.code(number);
      result_.codes[place] = code;
      sums.add(number, static_cast<double>(code - coding.zero_point) * coding.scale);
    });
  }

  tensor::Bytes floats_;
  const Blocks& wanted_;
  Layout layout_;
  BlockCodes result_;
};

}  // namespace

BlockCodes block_codes(const tensor::Tensor& floats, const Blocks& wanted) { return Coder(floats, wanted).run(); }

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

}  // namespace assay::convert
