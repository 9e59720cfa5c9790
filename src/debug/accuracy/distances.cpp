#include "debug/accuracy/distances.h"

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "analysis/samples.h"
#include "base/parallel.h"
#include "tensor/casts.h"

namespace assay::debug {
namespace {

constexpr uint64_t kElementsAtATime = 16384;
constexpr size_t kLanes = 32;  // elements at a time, which the compiler puts into vectors

using Numbers = std::span<const double>;

// Numbers of a tensor, piece by piece.
class BlockReader {
 public:
  explicit BlockReader(const tensor::Datum& datum) : datum_(datum) {}

  // Good until the next call; nothing where there is no tensor.
  Numbers read(uint64_t begin, uint64_t size) {
    if (!datum_.is_tensor()) return {};
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

// Numbers of the same place in all three; no truth: empty.
struct Block {
  Numbers given;
  Numbers exact;
  Numbers truth;
};

struct Sums {
  Distances found;
  double squares = 0;
  double exact_squares = 0;
  double truth_squares = 0;

  void take_greatest(const Distances& other) {
    found.introduced = std::max(found.introduced, other.introduced);
    found.inherited = std::max(found.inherited, other.inherited);
    found.total = std::max(found.total, other.total);
  }
};

Sums combined(Sums a, const Sums& b) {
  a.take_greatest(b.found);
  if (b.found.excess > a.found.excess) {
    a.found.excess = b.found.excess;
    a.found.tolerance_there = b.found.tolerance_there;
  }
  a.squares += b.squares;
  a.exact_squares += b.exact_squares;
  a.truth_squares += b.truth_squares;
  return a;
}

// Limits of an element's error: `own` of itself, and `around`.
struct Limits {
  double own = 0;
  double around = 0;

  double at(double exact) const { return own * finite_or_zero(std::abs(exact)) + around; }
};

using Lane = std::array<double, kLanes>;

double sum(const Lane& lanes) {
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

// The last numbers of a list that fill no lanes, and zeros behind them.
Lane rest_of(Numbers numbers) {
  Lane rest = {};
  std::ranges::copy(numbers.last(numbers.size() % kLanes), rest.begin());
  return rest;
}

// Sums over finite numbers; other numbers are not finite here, and show in the squares.
struct Lanes {
  Lane introduced = {};
  Lane inherited = {};
  Lane total = {};
  Lane excess = {};
  Lane squares = {};
  Lane exact_squares = {};
  Lane truth_squares = {};

  [[gnu::always_inline]] void add_exact(const double* exact) {
    for (size_t i = 0; i < kLanes; ++i) exact_squares[i] += exact[i] * exact[i];
  }
  [[gnu::always_inline]] void add_given(const double* given, const double* exact, const Limits& limits) {
    for (size_t i = 0; i < kLanes; ++i) {
      const double by = std::fabs(given[i] - exact[i]);
      const double share = by / (limits.own * std::fabs(exact[i]) + limits.around);
      introduced[i] = by > introduced[i] ? by : introduced[i];
      excess[i] = share > excess[i] ? share : excess[i];  // 0 / 0 is neither
      squares[i] += by * by;
    }
  }
  [[gnu::always_inline]] void add_truth(const double* given, const double* exact, const double* truth) {
    for (size_t i = 0; i < kLanes; ++i) {
      const double before = std::fabs(exact[i] - truth[i]);
      const double all = std::fabs(given[i] - truth[i]);
      inherited[i] = before > inherited[i] ? before : inherited[i];
      total[i] = all > total[i] ? all : total[i];
      truth_squares[i] += truth[i] * truth[i];
    }
  }
  bool are_finite() const { return std::isfinite(sum(squares) + sum(exact_squares) + sum(truth_squares)); }
};

Limits limits_of(const RoughAllowance& rough, double exact_squares, size_t count) {
  return {2 * rough.own, 2 * rough.around * std::sqrt(exact_squares / static_cast<double>(count))};
}

[[gnu::always_inline]] inline void add_lanes(const Block& block, const RoughAllowance& rough, Lanes& sums) {
  const size_t count = block.exact.size(), full = count - count % kLanes;
  const Lane given = rest_of(block.given), exact = rest_of(block.exact), truth = rest_of(block.truth);
  Lanes lanes;  // here nothing else can be at its place
  for (size_t i = 0; i < full; i += kLanes) lanes.add_exact(block.exact.data() + i);
  lanes.add_exact(exact.data());
  const Limits limits = limits_of(rough, sum(lanes.exact_squares), count);
  for (size_t i = 0; i < full; i += kLanes) {
    lanes.add_given(block.given.data() + i, block.exact.data() + i, limits);
    if (!block.truth.empty()) lanes.add_truth(block.given.data() + i, block.exact.data() + i, block.truth.data() + i);
  }
  lanes.add_given(given.data(), exact.data(), limits);
  if (!block.truth.empty()) lanes.add_truth(given.data(), exact.data(), truth.data());
  sums = lanes;
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void add_lanes_avx2(const Block& block, const RoughAllowance& rough, Lanes& sums) {
  add_lanes(block, rough, sums);
}
#endif

Lanes lanes_of(const Block& block, const RoughAllowance& rough) {
  Lanes lanes;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    add_lanes_avx2(block, rough, lanes);
    return lanes;
  }
#endif
  add_lanes(block, rough, lanes);
  return lanes;
}

// Notes an excess greater than the greatest before.
void note_excess(const Block& block, const Limits& limits, Distances& found) {
  for (size_t i = 0; i < block.exact.size(); ++i) {
    const double by = distance(block.given[i], block.exact[i]);
    const double tolerance = limits.at(block.exact[i]);
    if (by <= found.excess * tolerance) continue;
    found.excess = tolerance == 0 ? INFINITY : by / tolerance;
    found.tolerance_there = tolerance;
  }
}

// Adds numbers of any kind one by one.
void add_each(const Block& block, const RoughAllowance& rough, Sums& sums) {
  double exact_squares = 0;
  for (const double number : block.exact) exact_squares += finite_or_zero(number * number);
  sums.exact_squares += exact_squares;
  for (size_t i = 0; i < block.exact.size(); ++i) {
    const double by = distance(block.given[i], block.exact[i]);
    sums.squares += finite_or_zero(by * by);
    sums.found.introduced = std::max(sums.found.introduced, by);
    if (block.truth.empty()) continue;
    sums.found.inherited = std::max(sums.found.inherited, distance(block.exact[i], block.truth[i]));
    sums.found.total = std::max(sums.found.total, distance(block.given[i], block.truth[i]));
    sums.truth_squares += finite_or_zero(block.truth[i] * block.truth[i]);
  }
  note_excess(block, limits_of(rough, exact_squares, block.exact.size()), sums.found);
}

void add_block(const Block& block, const RoughAllowance& rough, Sums& sums) {
  const Lanes lanes = lanes_of(block, rough);
  if (!lanes.are_finite()) return add_each(block, rough, sums);
  const double exact_squares = sum(lanes.exact_squares);
  sums.squares += sum(lanes.squares);
  sums.exact_squares += exact_squares;
  sums.truth_squares += sum(lanes.truth_squares);
  sums.take_greatest({.introduced = std::ranges::max(lanes.introduced),
                      .inherited = std::ranges::max(lanes.inherited),
                      .total = std::ranges::max(lanes.total)});
  if (std::ranges::max(lanes.excess) > sums.found.excess) {
    note_excess(block, limits_of(rough, exact_squares, block.exact.size()), sums.found);
  }
}

}  // namespace

double greatest_distance(const std::vector<double>& a, const std::vector<double>& b) {
  const auto find = [&](uint64_t begin, uint64_t end) {
    double greatest = 0;
    for (uint64_t i = begin; i < end; ++i) greatest = std::max(greatest, distance(a[i], b[i]));
    return greatest;
  };
  return parallel_reduce(a.size(), kElementsAtATime, 0.0, find, [](double x, double y) { return std::max(x, y); });
}

double rms_of_finite(const std::vector<double>& numbers) {
  const auto sum = [&](uint64_t begin, uint64_t end) {
    double squares = 0;
    for (uint64_t i = begin; i < end; ++i) squares += finite_or_zero(numbers[i] * numbers[i]);
    return squares;
  };
  const double squares = parallel_reduce(numbers.size(), kElementsAtATime, 0.0, sum, std::plus<>());
  return std::sqrt(squares / static_cast<double>(std::max<size_t>(numbers.size(), 1)));
}

Distances measure_distances(const tensor::Datum& given, const tensor::Datum& exact, const tensor::Datum& truth,
                            const RoughAllowance& rough) {
  const uint64_t count = exact.tensor().count();
  const uint64_t block = analysis::neighbours(exact.tensor().shape());
  const auto add_blocks = [&](uint64_t first, uint64_t last) {
    Sums sums;
    BlockReader readers[3] = {BlockReader(given), BlockReader(exact), BlockReader(truth)};
    for (uint64_t begin = first * block; begin < std::min(last * block, count); begin += block) {
      const uint64_t size = std::min(block, count - begin);
      add_block({readers[0].read(begin, size), readers[1].read(begin, size), readers[2].read(begin, size)}, rough,
                sums);
    }
    return sums;
  };
  const uint64_t grain = std::max<uint64_t>(1, kElementsAtATime / block);
  const Sums sums = parallel_reduce((count + block - 1) / block, grain, Sums(), add_blocks, combined);
  Distances found = sums.found;
  if (truth.is_tensor() && count > 0) found.magnitude = std::sqrt(sums.truth_squares / static_cast<double>(count));
  const double allowed = 2 * rough.rms * std::sqrt(sums.exact_squares);
  const double off = std::sqrt(sums.squares);
  if (off > 0) found.excess = std::max(found.excess, allowed == 0 ? INFINITY : off / allowed);
  return found;
}

}  // namespace assay::debug
