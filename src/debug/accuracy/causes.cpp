#include "debug/accuracy/causes.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "debug/accuracy/range_causes.h"
#include "debug/accuracy/variants.h"

namespace assay::debug {
namespace {

// The two arrays that a cause is read from.
struct Numbers {
  std::vector<double> given;
  std::vector<double> exact;
  tensor::Shape shape;
  double unit = 0;
  bool is_whole = false;
};

// A cause that is read from the size of a difference explains at least so much of it.
constexpr double kExplained = 0.9;

double greatest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double greatest = 0;
  for (size_t i = 0; i < a.size(); ++i) greatest = std::max(greatest, a[i] == b[i] ? 0 : std::abs(a[i] - b[i]));
  return greatest;
}

bool is_close(double a, double b, double tolerance) { return a == b || std::abs(a - b) <= tolerance; }

std::optional<Cause> birth_of_nan(const Numbers& numbers) {
  uint64_t nans = 0, of_model = 0;
  for (size_t i = 0; i < numbers.given.size(); ++i) {
    nans += std::isnan(numbers.given[i]) && !std::isnan(numbers.exact[i]) ? 1 : 0;
    of_model += std::isnan(numbers.exact[i]) && !std::isnan(numbers.given[i]) ? 1 : 0;
  }
  if (nans > 0) return Cause{"nan", fmt::format("{} element(s) are NaN and should be numbers", nans)};
  if (of_model > 0) return Cause{"nan", fmt::format("{} element(s) should be NaN and are numbers", of_model)};
  return std::nullopt;
}

std::optional<Cause> overflow(const Numbers& numbers, const Accused& accused) {
  uint64_t infinities = 0;
  double worst = 0;
  for (size_t i = 0; i < numbers.given.size(); ++i) {
    if (!std::isinf(numbers.given[i]) || std::isinf(numbers.exact[i])) continue;
    ++infinities;
    worst = std::max(worst, std::abs(numbers.exact[i]));
  }
  if (infinities == 0) return std::nullopt;
  return Cause{"overflow", fmt::format("{} element(s) are infinite and should be up to {:.4g}; {} is stored",
                                       infinities, worst, tensor::name(accused.exact.declared()))};
}

// Infinity is asked for, and a large number given.
std::optional<Cause> finite(const Numbers& numbers) {
  uint64_t count = 0;
  double greatest = 0;
  for (size_t i = 0; i < numbers.given.size(); ++i) {
    if (!std::isinf(numbers.exact[i]) || !std::isfinite(numbers.given[i])) continue;
    ++count;
    greatest = std::abs(numbers.given[i]) > std::abs(greatest) ? numbers.given[i] : greatest;
  }
  if (count == 0) return std::nullopt;
  return Cause{"finite",
               fmt::format("{} element(s) are finite, up to {:.4g}, and should be infinite", count, greatest)};
}

std::optional<Cause> underflow(const Accused& accused) {
  if (!accused.is_type_at_fault) return std::nullopt;
  return Cause{"underflow",
               fmt::format("numbers so near 0 have few bits, or none, in {}", tensor::name(accused.exact.declared()))};
}

// The layer is right, and what it was given is not.
Cause out_of_range(const Numbers& numbers, const Accused& accused) {
  const std::vector<double> truth = numbers_of(accused.truth);
  uint64_t count = 0;
  double right = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    if (std::isfinite(numbers.given[i]) || !std::isfinite(truth[i])) continue;
    if (count++ == 0) right = truth[i];
  }
  return {"input_range", fmt::format("an input has left the range where the operator gives numbers: {} element(s) are "
                                     "infinite or NaN, where the truth is {:.4g}",
                                     count, right)};
}

std::vector<double> sorted(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  return numbers;
}

// The same numbers in other places.
std::optional<Cause> layout(const Numbers& numbers) {
  if (numbers.given.size() < 4) return std::nullopt;
  const std::vector<double> given = sorted(numbers.given);
  const std::vector<double> exact = sorted(numbers.exact);
  const double greatest = std::max(std::abs(exact.front()), std::abs(exact.back()));
  const double tolerance = (64 * analysis::roundoff(tensor::DType::float32) + 2 * numbers.unit) * greatest;
  if (exact.back() - exact.front() <= tolerance) return std::nullopt;
  const double left = greatest_difference(given, exact);
  const bool is_explained = left <= (1 - kExplained) * greatest_difference(numbers.given, numbers.exact);
  if (!(left <= tolerance) || !is_explained) return std::nullopt;
  return Cause{"layout", "the right numbers stand in other places"};
}

// given = factor * exact + offset, by least squares.
std::optional<Cause> scale(const Numbers& numbers) {
  const auto count = static_cast<double>(numbers.given.size());
  if (count < 4) return std::nullopt;
  double mean_x = 0, mean_y = 0;
  for (size_t i = 0; i < numbers.given.size(); ++i) {
    if (!std::isfinite(numbers.given[i]) || !std::isfinite(numbers.exact[i])) return std::nullopt;
    mean_x += numbers.exact[i] / count;
    mean_y += numbers.given[i] / count;
  }
  double xx = 0, xy = 0, yy = 0, off = 0;
  for (size_t i = 0; i < numbers.given.size(); ++i) {
    const double x = numbers.exact[i] - mean_x, y = numbers.given[i] - mean_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
    off += (numbers.given[i] - numbers.exact[i]) * (numbers.given[i] - numbers.exact[i]);
  }
  if (xx == 0 || yy == 0) return std::nullopt;
  const double factor = xy / xx;
  const double offset = mean_y - factor * mean_x;
  const double left = std::max(0.0, yy - factor * xy);
  const double steps = numbers.is_whole ? count / 4 : 0;  // whole numbers are off by up to a half
  const double relative = std::max(1e-4, 64 * numbers.unit);
  if (left > relative * relative * yy + steps || left > (1 - kExplained) * (1 - kExplained) * off + steps / 2) {
    return std::nullopt;
  }
  const double size = std::abs(mean_x) + std::sqrt(xx / count);
  if (std::abs(offset) < 1e-3 * size)
    return Cause{"scale", fmt::format("all is {:.6g} times what it should be", factor)};
  return Cause{"scale", fmt::format("all is {:.6g} times what it should be plus {:.6g}", factor, offset)};
}

// Where along each axis the failures are: at its ends, or at one index.
std::optional<Cause> place(const Numbers& numbers, const Accused& accused) {
  const size_t rank = numbers.shape.size();
  std::vector<std::vector<uint64_t>> failures(rank);
  for (size_t axis = 0; axis < rank; ++axis) failures[axis].resize(static_cast<size_t>(numbers.shape[axis]));
  uint64_t failed = 0;
  for (size_t i = 0; i < numbers.given.size(); ++i) {
    const double allowed = accused.allowed(i);
    if (is_close(numbers.given[i], numbers.exact[i], allowed)) continue;
    ++failed;
    size_t rest = i;
    for (size_t axis = rank; axis-- > 0;) {
      ++failures[axis][rest % failures[axis].size()];
      rest /= failures[axis].size();
    }
  }
  if (failed == 0 || failed == numbers.given.size()) return std::nullopt;
  for (size_t axis = 0; axis < rank; ++axis) {
    const std::vector<uint64_t>& along = failures[axis];
    const auto places = std::ranges::count_if(along, [](uint64_t count) { return count > 0; });
    if (places == 1 && along.size() > 1) {
      const auto at = std::ranges::find_if(along, [](uint64_t count) { return count > 0; }) - along.begin();
      return Cause{"one_slice",
                   fmt::format("only index {} of axis {} is wrong: one weight, bias or scale there", at, axis)};
    }
  }
  uint64_t inner = 0;
  for (size_t axis = 2; axis < rank; ++axis) {
    for (size_t i = 1; i + 1 < failures[axis].size(); ++i) inner += failures[axis][i];
  }
  if (rank == 4 && inner < failed) {
    for (size_t axis = 2; axis < rank; ++axis) {
      const std::vector<uint64_t>& along = failures[axis];
      if (along.size() > 3 && along[along.size() / 2] == 0) {
        return Cause{"border", fmt::format("only the border of axis {} is wrong: padding", axis)};
      }
    }
  }
  return std::nullopt;
}

// The size of the errors tells the type that was computed in.
std::optional<Cause> precision(const Numbers& numbers) {
  if (numbers.is_whole) return std::nullopt;
  double squares = 0, size = 0;
  for (size_t i = 0; i < numbers.given.size(); ++i) {
    const double by = numbers.given[i] - numbers.exact[i];
    if (!std::isfinite(by)) return std::nullopt;
    squares += by * by;
    size += numbers.exact[i] * numbers.exact[i];
  }
  const double relative = size == 0 ? 1 : std::sqrt(squares / size);
  const auto is_of = [&](double unit) { return relative < 8 * unit && relative > unit / 8; };
  if (numbers.unit < 1e-7 && is_of(std::ldexp(1, -11))) {
    return Cause{"precision", "errors are as large as those of float16 or TF32 arithmetic"};
  }
  if (numbers.unit < 1e-4 && is_of(std::ldexp(1, -9))) {
    return Cause{"precision", "errors are as large as those of bfloat16 arithmetic"};
  }
  if (relative < std::min(1e3 * numbers.unit, 1e-3)) {
    return Cause{"rounding", "errors are as small as roundings, and larger than they have to be"};
  }
  return std::nullopt;
}

}  // namespace

Cause find_cause(const ir::Model& model, const Accused& accused) {
  if (accused.given.tensor().shape() != accused.exact.tensor().shape()) {
    return {"shape", fmt::format("its shape is [{}] and should be [{}]", fmt::join(accused.given.tensor().shape(), ","),
                                 fmt::join(accused.exact.tensor().shape(), ","))};
  }
  const Numbers numbers = {numbers_of(accused.given), numbers_of(accused.exact), accused.exact.tensor().shape(),
                           std::max(analysis::roundoff(accused.exact.declared()), 1e-9),
                           !tensor::is_floating(accused.exact.declared())};
  if (const std::optional<Cause> found = overflow(numbers, accused)) return *found;
  if (accused.is_out_of_range) return out_of_range(numbers, accused);
  if (const std::optional<Cause> found = underflow(accused)) return *found;
  if (const std::optional<Cause> found = birth_of_nan(numbers)) return *found;
  if (const std::optional<Cause> found = finite(numbers)) return *found;
  if (const std::string variant = matching_variant(model, accused); !variant.empty()) {
    return {"semantics", fmt::format("it gives what the layer would give {}", variant)};
  }
  if (const std::optional<Cause> found = layout(numbers)) return *found;
  if (const std::optional<Cause> found = scale(numbers)) return *found;
  if (const std::optional<Cause> found = quantized(numbers.given, numbers.exact)) return *found;
  if (const std::optional<Cause> found = place(numbers, accused)) return *found;
  if (const std::optional<Cause> found = cancellation(model, accused, numbers.unit)) return *found;
  if (const std::optional<Cause> found = precision(numbers)) return *found;
  return {"semantics", "it computes something else: an operator, an attribute or weights differ"};
}

}  // namespace assay::debug
