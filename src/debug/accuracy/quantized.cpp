#include "debug/accuracy/quantized.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "debug/accuracy/layer_oracle.h"
#include "ops/kernels/quantization/numeric_limits.h"

namespace assay::debug {
namespace {

using tensor::DType;

constexpr double kRoundings = 16;          // of a number, before it is quantized
constexpr double kFewToEitherSide = 0.02;  // of the elements, beyond half a step
constexpr double kMostEven = 1.5;          // times the mean square of even roundings: weights rounded with a purpose
constexpr double kClearlyWorse = 4;        // times what a range that clips nothing would lose
constexpr double kMostClipped = 0.01;      // of the squares of the numbers
constexpr double kSameFactor = 0.02;       // of a factor, between a fault that is named and 1

// The places of scales: which one belongs to which element.
class Places {
 public:
  Places(const Quantized& quantized, const tensor::Shape& shape, size_t scales) : scales_(scales) {
    if (scales_ <= 1 || shape.empty()) return;
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t axis = quantized.axis < 0 ? quantized.axis + rank : quantized.axis;
    if (axis < 0 || axis >= rank) return;
    size_ = static_cast<size_t>(shape[static_cast<size_t>(axis)]);
    for (auto i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i) inner_ *= static_cast<size_t>(shape[i]);
    block_ = static_cast<size_t>(quantized.block);
  }

  size_t of(size_t element) const {
    if (scales_ <= 1) return 0;
    const size_t index = element / inner_ % size_;
    if (block_ == 0) return std::min(index, scales_ - 1);
    const size_t blocks = (size_ + block_ - 1) / block_;
    return std::min((element / (inner_ * size_) * blocks + index / block_) * inner_ + element % inner_, scales_ - 1);
  }

 private:
  size_t scales_;
  size_t size_ = 1;
  size_t inner_ = 1;
  size_t block_ = 0;
};

double factor_of(const std::vector<double>& factors, size_t element, size_t count) {
  return factors.empty() ? 1 : factors[element / (count / factors.size())];
}

// The numbers that codes stand for: values, times what is folded into them.
std::vector<double> folded(const Datum& values, const std::vector<double>& factors) {
  std::vector<double> numbers = numbers_of(values);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] *= factor_of(factors, i, numbers.size());
  return numbers;
}

class Codes {
 public:
  Codes(const Quantized& quantized, const Datum& values)
      : scales_(numbers_of(quantized.scale)),
        zeros_(quantized.zero_point.is_tensor() ? numbers_of(quantized.zero_point) : std::vector<double>{0}),
        shape_(values.tensor().shape()),
        of_scales_(quantized, shape_, scales_.size()),
        of_zeros_(quantized, shape_, zeros_.size()) {
    const Datum& typed = quantized.codes.is_tensor() ? quantized.codes : quantized.zero_point;
    const DType type = typed.is_tensor() ? typed.tensor().dtype() : DType::uint8;
    lowest_ = ops::lowest_of<double>(type);
    highest_ = ops::highest_of<double>(type);
    if (quantized.codes.is_tensor()) {
      codes_ = numbers_of(quantized.codes);
      return;
    }
    codes_ = numbers_of(values);
    for (size_t i = 0; i < codes_.size(); ++i)
      codes_[i] = std::clamp(std::nearbyint(codes_[i] / step(i)) + zero(i), lowest_, highest_);
  }

  size_t size() const { return codes_.size(); }
  double step(size_t i) const { return scales_[of_scales_.of(i)]; }
  float number(size_t i) const { return static_cast<float>(codes_[i] - zero(i)) * static_cast<float>(step(i)); }
  double levels() const { return highest_ - lowest_; }
  // True if the code is the last one before numbers as this one; symmetric codes may leave out the lowest.
  bool is_end(size_t i, double value) const {
    if (value > static_cast<double>(number(i))) return codes_[i] == highest_;
    return codes_[i] <= lowest_ + (lowest_ < 0 ? 1 : 0);
  }
  Datum numbers(const std::vector<double>& factors) const {
    std::vector<float> all(size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = number(i) / static_cast<float>(factor_of(factors, i, size()));
    return Datum(tensor::make_tensor(DType::float32, shape_, std::span<const float>(all)));
  }

 private:
  double zero(size_t i) const { return zeros_[of_zeros_.of(i)]; }

  std::vector<double> scales_;
  std::vector<double> zeros_;
  tensor::Shape shape_;
  Places of_scales_;
  Places of_zeros_;
  std::vector<double> codes_;
  double lowest_ = 0;
  double highest_ = 0;
};

// All in steps, but what is clipped and the squares of the numbers.
struct Errors {
  uint64_t count = 0;
  uint64_t beyond_half = 0;
  uint64_t beyond_one = 0;
  uint64_t clipped = 0;
  double squares = 0;
  double clipped_squares = 0;
  double most_clipped = 0;
  double step_squares = 0;
  double number_squares = 0;
  double excess = 0;
  double step = 0;
};

Errors errors_of(const Codes& codes, const std::vector<double>& values, double roundoff) {
  Errors errors{.count = values.size()};
  for (size_t i = 0; i < values.size(); ++i) {
    const double step = codes.step(i), by = std::abs(static_cast<double>(codes.number(i)) - values[i]);
    errors.step_squares += step * step;
    errors.number_squares += values[i] * values[i];
    if (by == 0) continue;
    const double steps = by / step, rounding = kRoundings * roundoff * std::abs(values[i]) / step;
    if (steps > 0.5 + rounding && codes.is_end(i, values[i])) {
      ++errors.clipped;
      errors.clipped_squares += by * by;
      errors.most_clipped = std::max(errors.most_clipped, steps);
      continue;
    }
    errors.squares += steps * steps;
    errors.beyond_half += steps > 0.5 + rounding ? 1 : 0;
    errors.beyond_one += !(steps <= 1 + rounding) ? 1 : 0;
    if (steps <= errors.excess) continue;
    errors.excess = steps;
    errors.step = step;
  }
  return errors;
}

bool are_sound(const Errors& errors) {
  if (errors.beyond_one > 0) return false;
  const auto count = static_cast<double>(errors.count);
  if (static_cast<double>(errors.beyond_half) <= kFewToEitherSide * count + 1) return true;
  return errors.squares <= count / 12 * (kMostEven + 4 / std::sqrt(count));
}

bool clips_much(const Errors& errors, double levels) {
  const double wider = 1 + errors.most_clipped / levels;
  return errors.clipped_squares > kClearlyWorse * errors.step_squares / 12 * wider * wider &&
         errors.clipped_squares > kMostClipped * errors.number_squares;
}

// A factor or a shift after which the codes are sound.
std::string unsound_text(const Codes& codes, const std::vector<double>& values, const Errors& errors) {
  double products = 0, squares = 0, shift = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double number = codes.number(i);
    products += number * values[i];
    squares += values[i] * values[i];
    shift += (number - values[i]) / codes.step(i);
  }
  const double factor = products / squares, steps = std::nearbyint(shift / static_cast<double>(values.size()));
  uint64_t off_scaled = 0, off_shifted = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double number = codes.number(i), step = codes.step(i);
    off_scaled += std::abs(number - factor * values[i]) > 0.6 * std::abs(factor) * step ? 1 : 0;
    off_shifted += std::abs(number - values[i] - steps * step) > 0.6 * step ? 1 : 0;
  }
  const double few = kFewToEitherSide * static_cast<double>(values.size());
  if (std::abs(factor - 1) > kSameFactor && static_cast<double>(off_scaled) <= few)
    return fmt::format("its numbers are {:.3g} times as large as they should be", factor);
  if (steps != 0 && static_cast<double>(off_shifted) <= few)
    return fmt::format("its numbers are {} step(s) {} than they should be", std::abs(steps),
                       steps > 0 ? "higher" : "lower");
  return fmt::format("{} of {} elements are more than half a step off, by up to {:.4g} steps", errors.beyond_half,
                     errors.count, errors.excess);
}

// Scales and zero points that are neither one, nor one for each index, nor one for each block.
bool fit(const Quantized& quantized, const Datum& values) {
  const tensor::Shape& shape = values.tensor().shape();
  if (quantized.codes.is_tensor() && quantized.codes.tensor().shape() != shape) return false;
  const size_t factors = quantized.factors.size();
  if (factors != 0 && (shape.empty() || static_cast<uint64_t>(shape[0]) != factors)) return false;
  const uint64_t scales = quantized.scale.tensor().count();
  if (scales == 1) return true;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = quantized.axis < 0 ? quantized.axis + rank : quantized.axis;
  if (axis < 0 || axis >= rank) return false;
  const int64_t size = shape[static_cast<size_t>(axis)];
  if (quantized.block == 0) return scales == static_cast<uint64_t>(size);
  return quantized.scale.tensor().shape().size() == shape.size();
}

}  // namespace

Datum turned(const Datum& codes) {
  if (!codes.is_tensor() || codes.tensor().shape().size() != 2) return codes;
  const tensor::Tensor& tensor = codes.tensor();
  const tensor::Bytes bytes = tensor.bytes();
  const auto rows = static_cast<size_t>(tensor.shape()[0]), columns = static_cast<size_t>(tensor.shape()[1]);
  if (bytes.size() != rows * columns) return codes;
  std::vector<std::byte> made(bytes.size());
  for (size_t i = 0; i < made.size(); ++i) made[i % columns * rows + i / columns] = bytes[i];
  return Datum(
      tensor::Tensor(tensor.dtype(), {tensor.shape()[1], tensor.shape()[0]}, tensor::make_owned(std::move(made))));
}

Quantization quantization_of(const Quantized& quantized, const Datum& values, double roundoff) {
  if (!is_numeric(values) || !is_numeric(quantized.scale)) return {.fault = {.text = "its numbers are not known"}};
  if (!fit(quantized, values)) return {.fault = {.text = "its codes have another shape"}};
  const Codes codes(quantized, values);
  const std::vector<double> numbers = folded(values, quantized.factors);
  const Errors errors = errors_of(codes, numbers, roundoff);
  Quantization made{.numbers = codes.numbers(quantized.factors), .excess = errors.excess, .step = errors.step};
  if (!are_sound(errors)) {
    made.fault.text = unsound_text(codes, numbers, errors);
  } else if (clips_much(errors, codes.levels())) {
    made.fault.is_clipped = true;
    made.fault.text = fmt::format("its range clips {} of {} elements, by up to {:.4g} steps", errors.clipped,
                                  errors.count, errors.most_clipped);
  }
  return made;
}

}  // namespace assay::debug
