#include "debug/accuracy/difference.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "analysis/samples.h"
#include "base/parallel.h"
#include "tensor/casts.h"

namespace assay::debug {
namespace {

constexpr uint64_t kElementsAtATime = 16384;
constexpr double kUnits = 16;  // of an element and of the root mean square

double greatest_of(tensor::DType dtype) {
  if (dtype == tensor::DType::float16) return 65504;
  const bool has_range_of_float = dtype == tensor::DType::float32 || dtype == tensor::DType::bfloat16;
  return has_range_of_float ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

double least_normal_of(tensor::DType dtype) {
  if (dtype == tensor::DType::float16) return std::ldexp(1, -14);
  return dtype == tensor::DType::float64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
}

// Whether the type leaves the side no other choice: infinity, or few bits next to 0.
bool is_beyond(double given, double exact, tensor::DType dtype) {
  const double least = least_normal_of(dtype);
  if (std::abs(exact) < least) return std::abs(given) <= least;
  return std::isinf(given) && std::abs(exact) > greatest_of(dtype) && (given > 0) == (exact > 0);
}

// The distance of two numbers; NaN only from NaN is none.
double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double difference = std::abs(a - b);
  return std::isnan(difference) ? INFINITY : difference;
}

// Numbers of a tensor, piece by piece.
class BlockReader {
 public:
  explicit BlockReader(const tensor::Datum& datum) : datum_(datum) {}

  std::span<const double> read(uint64_t begin, uint64_t size) {
    const tensor::Tensor& tensor = datum_.tensor();
    if (tensor.dtype() == tensor::DType::float64) {
      return {reinterpret_cast<const double*>(tensor.bytes().data()) + begin, size};
    }
    numbers_.resize(size);
    tensor::load(tensor.dtype(), tensor.bytes(), begin, std::span<double>(numbers_));
    return numbers_;
  }

 private:
  const tensor::Datum& datum_;
  std::vector<double> numbers_;
};

struct Sums {
  Distances found;
  double squares = 0;
  double exact_squares = 0;
  double truth_squares = 0;
};

Sums combined(Sums a, const Sums& b) {
  a.found.introduced = std::max(a.found.introduced, b.found.introduced);
  a.found.inherited = std::max(a.found.inherited, b.found.inherited);
  a.found.total = std::max(a.found.total, b.found.total);
  if (b.found.excess > a.found.excess) {
    a.found.excess = b.found.excess;
    a.found.tolerance_there = b.found.tolerance_there;
  }
  a.squares += b.squares;
  a.exact_squares += b.exact_squares;
  a.truth_squares += b.truth_squares;
  return a;
}

double finite_or_zero(double number) { return std::isfinite(number) ? number : 0; }

void add_block(std::span<const double> given, std::span<const double> exact, const RoughAllowance& rough, Sums& sums) {
  double exact_squares = 0;
  for (const double number : exact) exact_squares += finite_or_zero(number * number);
  sums.exact_squares += exact_squares;
  const double around = rough.around * std::sqrt(exact_squares / static_cast<double>(exact.size()));
  for (size_t i = 0; i < exact.size(); ++i) {
    const double by = distance(given[i], exact[i]);
    if (by == 0) continue;
    sums.squares += finite_or_zero(by * by);
    sums.found.introduced = std::max(sums.found.introduced, by);
    const double tolerance = 2 * (rough.own * finite_or_zero(std::abs(exact[i])) + around);
    if (by <= sums.found.excess * tolerance) continue;
    sums.found.excess = tolerance == 0 ? INFINITY : by / tolerance;
    sums.found.tolerance_there = tolerance;
  }
}

void add_truth(std::span<const double> given, std::span<const double> exact, std::span<const double> truth,
               Sums& sums) {
  for (size_t i = 0; i < truth.size(); ++i) {
    sums.found.inherited = std::max(sums.found.inherited, distance(exact[i], truth[i]));
    sums.found.total = std::max(sums.found.total, distance(given[i], truth[i]));
    sums.truth_squares += finite_or_zero(truth[i] * truth[i]);
  }
}

double rms_of(const std::vector<double>& numbers) {
  const auto sum = [&](uint64_t begin, uint64_t end) {
    double squares = 0;
    for (uint64_t i = begin; i < end; ++i) squares += finite_or_zero(numbers[i] * numbers[i]);
    return squares;
  };
  const double squares = parallel_reduce(numbers.size(), kElementsAtATime, 0.0, sum, std::plus<>());
  return std::sqrt(squares / static_cast<double>(std::max<size_t>(numbers.size(), 1)));
}

struct Judged {
  Difference found;
  double squares = 0;

  void add(double by, double may) {
    found.greatest = std::max(found.greatest, by);
    if (by == 0 || std::isinf(may)) return;
    squares += std::isfinite(by) ? by * by : 0;
    const double excess = may == 0 ? INFINITY : by / may;
    found.failed_count += excess > 1 ? 1 : 0;
    if (excess > found.excess) note(excess, may);
  }
  Judged join(const Judged& other) {
    found.greatest = std::max(found.greatest, other.found.greatest);
    found.failed_count += other.found.failed_count;
    squares += other.squares;
    if (other.found.excess > found.excess) note(other.found.excess, other.found.tolerance_there);
    return *this;
  }
  void note(double excess, double may) {
    found.excess = excess;
    found.tolerance_there = may;
  }
};

Difference difference_of(const std::vector<double>& given, const std::vector<double>& exact) {
  const auto find = [&](uint64_t begin, uint64_t end) {
    double greatest = 0;
    for (uint64_t i = begin; i < end; ++i) greatest = std::max(greatest, distance(given[i], exact[i]));
    return greatest;
  };
  const auto larger = [](double a, double b) { return std::max(a, b); };
  return {.greatest = parallel_reduce(exact.size(), kElementsAtATime, 0.0, find, larger), .count = exact.size()};
}

}  // namespace

Distances measure_distances(const tensor::Datum& given, const tensor::Datum& exact, const tensor::Datum& truth,
                            const RoughAllowance& rough) {
  const uint64_t count = exact.tensor().count();
  const uint64_t block = analysis::neighbours(exact.tensor().shape());
  const uint64_t blocks = (count + block - 1) / block;
  const auto add_blocks = [&](uint64_t first, uint64_t last) {
    Sums sums;
    BlockReader readers[3] = {BlockReader(given), BlockReader(exact), BlockReader(truth)};
    for (uint64_t at = first; at < last; ++at) {
      const uint64_t begin = at * block;
      const uint64_t size = std::min(block, count - begin);
      add_block(readers[0].read(begin, size), readers[1].read(begin, size), rough, sums);
      if (truth.is_tensor()) {
        add_truth(readers[0].read(begin, size), readers[1].read(begin, size), readers[2].read(begin, size), sums);
      }
    }
    return sums;
  };
  const uint64_t grain = std::max<uint64_t>(1, kElementsAtATime / block);
  const Sums sums = parallel_reduce(blocks, grain, Sums(), add_blocks, combined);
  Distances found = sums.found;
  if (truth.is_tensor() && count > 0) found.magnitude = std::sqrt(sums.truth_squares / static_cast<double>(count));
  const double allowed = 2 * rough.rms * std::sqrt(sums.exact_squares);
  const double off = std::sqrt(sums.squares);
  if (off > 0) found.excess = std::max(found.excess, allowed == 0 ? INFINITY : off / allowed);
  return found;
}

Difference judge_floats(const std::vector<double>& given, const std::vector<double>& exact,
                        const compare::Allowance& allowance) {
  const auto judge_piece = [&](uint64_t begin, uint64_t end) {
    Judged judged;
    for (uint64_t i = begin; i < end; ++i) {
      judged.add(distance(given[i], exact[i]), static_cast<double>(allowance.of_elements[i]));
    }
    return judged;
  };
  const auto join = [](Judged a, const Judged& b) { return a.join(b); };
  auto [found, squares] = parallel_reduce(exact.size(), kElementsAtATime, Judged(), judge_piece, join);
  found.count = exact.size();
  if (found.failed_count <= allowance.may_be_beyond) found.excess = std::min(found.excess, 1.0);
  if (allowance.rms > 0 && !exact.empty()) {
    found.excess = std::max(found.excess, std::sqrt(squares / static_cast<double>(exact.size())) / allowance.rms);
  }
  return found;
}

std::optional<Difference> judge_type(const std::vector<double>& given, const std::vector<double>& exact,
                                     tensor::DType dtype, double roundoff) {
  const double rms = rms_of(exact);
  Difference found = difference_of(given, exact);
  for (size_t i = 0; i < exact.size(); ++i) {
    const double may = kUnits * roundoff * (finite_or_zero(std::abs(exact[i])) + rms);
    const double by = distance(given[i], exact[i]);
    if (by <= may) continue;
    if (!is_beyond(given[i], exact[i], dtype)) return std::nullopt;
    ++found.failed_count;
    found.excess = std::max(found.excess, may == 0 ? INFINITY : by / may);
    found.tolerance_there = may;
  }
  return found.failed_count > 0 ? std::optional(found) : std::nullopt;
}

bool are_near(const std::vector<double>& given, const std::vector<double>& exact, double roundoff) {
  const double rms = rms_of(exact);
  for (size_t i = 0; i < exact.size(); ++i) {
    const double may = kUnits * roundoff * (finite_or_zero(std::abs(exact[i])) + rms);
    if (distance(given[i], exact[i]) > may) return false;
  }
  return true;
}

Difference judge_whole(const std::vector<double>& given, const std::vector<double>& exact,
                       const compare::Allowance& allowance) {
  Difference found = difference_of(given, exact);
  for (size_t i = 0; i < exact.size(); ++i) {
    const double by = distance(given[i], exact[i]);
    found.failed_count += by > static_cast<double>(allowance.of_elements[i]) ? 1 : 0;
  }
  found.excess = found.failed_count > allowance.may_be_beyond ? INFINITY : 0;
  return found;
}

}  // namespace assay::debug
