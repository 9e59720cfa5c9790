#include <algorithm>
#include <atomic>
#include <cmath>

#include <fmt/format.h>

#include "analysis/moves.h"
#include "analysis/samples.h"
#include "base/parallel.h"
#include "tensor/casts.h"

namespace assay::analysis {
namespace {

using tensor::Datum;
using tensor::DType;
using tensor::Tensor;

constexpr double kShownEarly = 0.5;  // of what all runs are expected to show, fewer are sure of
constexpr double kPriorRuns = 4;     // runs that the neighbours of an element count as
constexpr uint64_t kLeastNeighbours = 16;
constexpr double kMargin = 12;        // deviations of one side; two sides lie further apart by the root of two
constexpr double kOftenFlips = 0.03;  // above it, each of the neighbours may be steps away
constexpr uint64_t kManyFlips = 16;
constexpr double kRmsMargin = 2;  // of a mean over many elements
constexpr uint64_t kLeastForRms = 64;
// Few elements near an edge flip in none of the moved runs, but elsewhere; as far as flips go in these runs, and a bit.
constexpr double kFlippedShare = 2e-5;
constexpr double kFurtherThanRuns = 2;
constexpr double kFewUnlimited = 0.01;  // of the elements, where a run overflows
constexpr double kLeastUlps = 4;
constexpr uint32_t kLeastRounded = 16;         // bits of types whose steps are large enough to be followed one by one
constexpr uint64_t kPiece = 16384;             // elements at a time
constexpr double kLeastDifference = 0x1p-126;  // below, results may be flushed to 0

std::vector<double> numbers(const Tensor& tensor) {
  std::vector<double> values(tensor.count());
  parallel_for(tensor.count(), 65536, [&](uint64_t begin, uint64_t end) {
    tensor::load(tensor.dtype(), tensor.bytes(), begin, std::span<double>(values).subspan(begin, end - begin));
  });
  return values;
}

// The largest number of types narrower than float32 with infinities; infinity of others.
double largest_of(DType dtype) {
  if (dtype == DType::float16) return 65504;
  return dtype == DType::bfloat16 ? 0x1.FEp127 : std::numeric_limits<double>::infinity();
}

// The differences of the moved runs from the nominal one.
class Differences {
 public:
  // `nominal` is what numbers() gives of the run that is not moved.
  Differences(const Samples& samples, const std::vector<double>& nominal)
      : count_(samples.nominal.tensor().count()),
        squares_(count_),
        greatest_(count_),
        block_(neighbours(samples.nominal.tensor().shape())),
        largest_(largest_of(samples.nominal.declared())) {
    for (const Datum& moved : samples.unstepped.empty() ? samples.moved : samples.unstepped) {
      add(samples, nominal, numbers(moved.tensor()));
    }
    if (samples.moved.size() < kMovedRuns)
      weight_ = kShownEarly * kMovedRuns / static_cast<double>(samples.moved.size());
  }

  uint64_t count() const { return count_; }
  double greatest(uint64_t i) const { return greatest_[i]; }
  double greatest() const { return greatest_.empty() ? 0 : *std::ranges::max_element(greatest_); }
  // compare::Allowance::edge
  double edge() const { return goes_beyond_ ? largest_ : std::numeric_limits<double>::infinity(); }
  uint64_t moved_count() const {
    return static_cast<uint64_t>(std::ranges::count_if(greatest_, [](double greatest) { return greatest > 0; }));
  }
  const std::vector<double>& rms_of_runs() const { return rms_of_runs_; }

  // fn(element, deviation), over all elements. What the neighbours say is the mean of their squares, which few large
  // ones raise for all, or the median.
  template <typename Fn>
  void for_each_deviation(bool takes_median, Fn&& fn) const {
    const double weight = weight_ / (kPriorRuns + kMovedRuns);
    parallel_for((count_ + block_ - 1) / block_, 1, [&](uint64_t first, uint64_t last) {
      for (uint64_t block = first; block < last; ++block) {
        const uint64_t begin = block * block_;
        const uint64_t end = std::min(begin + block_, count_);
        const double prior = kPriorRuns / kMovedRuns * (takes_median ? median(begin, end) : mean(begin, end));
        for (uint64_t i = begin; i < end; ++i) fn(i, std::sqrt((prior + squares_[i]) * weight));
      }
    });
  }

 private:
  double mean(uint64_t begin, uint64_t end) const {
    double sum = 0;
    for (uint64_t i = begin; i < end; ++i) sum += std::isfinite(squares_[i]) ? squares_[i] : 0;
    return sum / static_cast<double>(end - begin);
  }

  double median(uint64_t begin, uint64_t end) const {
    std::vector<double> block(squares_.begin() + static_cast<int64_t>(begin),
                              squares_.begin() + static_cast<int64_t>(end));
    const auto middle = block.begin() + static_cast<int64_t>(block.size() / 2);
    std::ranges::nth_element(block, middle);
    return std::isfinite(*middle) ? *middle : 0;
  }

  void add(const Samples& samples, const std::vector<double>& nominal, const std::vector<double>& moved) {
    const bool is_floating = tensor::is_floating(samples.nominal.declared());
    const auto add_piece = [&](uint64_t begin, uint64_t end) {
      double sum = 0;
      for (uint64_t i = begin; i < end; ++i) {
        double difference = std::fabs(is_floating ? difference_of(nominal[i], moved[i]) : moved[i] - nominal[i]);
        if (std::isinf(difference) && are_beyond(nominal[i], moved[i])) {
          goes_beyond_ = true;
          difference = 0;
        }
        squares_[i] += difference * difference;
        greatest_[i] = std::max(greatest_[i], difference);
        if (std::isfinite(difference)) sum += difference * difference;
      }
      return sum;
    };
    const double sum = parallel_reduce(count_, 16384, 0.0, add_piece, std::plus<>());
    rms_of_runs_.push_back(count_ == 0 ? 0 : std::sqrt(sum / static_cast<double>(count_)));
  }

  // Both at or beyond the largest number of a narrow type, of which only one is kept in a wider type.
  bool are_beyond(double nominal, double held) const {
    const double value = std::isfinite(nominal) ? nominal + held : held;
    return std::min(nominal, value) >= largest_ || std::max(nominal, value) <= -largest_;
  }

  uint64_t count_;
  std::vector<double> squares_;
  std::vector<double> greatest_;
  std::vector<double> rms_of_runs_;
  uint64_t block_;
  double weight_ = 1;  // of what was seen
  double largest_;
  std::atomic<bool> goes_beyond_ = false;
};

// A mean that moves much from run to run stands for few independent errors: it may move further.
double rms_limit(std::vector<double> rms) {
  std::ranges::sort(rms, std::greater<>());
  const size_t half = (rms.size() + 1) / 2;
  double mean = 0;
  double squares = 0;
  for (size_t i = 0; i < half; ++i) {
    mean += rms[i] / static_cast<double>(half);
    squares += rms[i] * rms[i] / static_cast<double>(half);
  }
  const double variation = mean > 0 ? std::sqrt(std::max(squares - mean * mean, 0.0)) / mean : 0;
  return kRmsMargin * std::sqrt(2.0) * (1 + 4 * variation) * rms.front();
}

void allow_rare_flips(const Samples& samples, const Differences& differences, compare::Allowance& allowance) {
  if (!samples.has_flips) return;
  allowance.may_be_beyond =
      static_cast<uint64_t>(kFlippedShare * static_cast<double>(samples.nominal.tensor().count()));
  allowance.furthest = kFurtherThanRuns * differences.greatest();
}

template <typename Fn>
double rms_of(uint64_t count, Fn&& number) {
  const auto add = [&](uint64_t begin, uint64_t end) {
    double sum = 0;
    for (uint64_t i = begin; i < end; ++i) sum += number(i) * number(i);
    return sum;
  };
  return std::sqrt(parallel_reduce(count, kPiece, 0.0, add, std::plus<>()) / static_cast<double>(count));
}

compare::Allowance of_floats(const Samples& samples, double least_roundoff) {
  const Tensor& tensor = samples.nominal.tensor();
  const std::vector<double> nominal = numbers(tensor);
  compare::Allowance allowance;
  allowance.of_elements.resize(tensor.count());
  const double share = kLeastUlps * least_share(samples.nominal.declared(), least_roundoff);
  const auto least = [&](uint64_t i) {
    return std::isfinite(nominal[i]) ? kLeastDifference + share * std::fabs(nominal[i]) : 0;
  };
  if (samples.is_same()) {
    for (uint64_t i = 0; i < tensor.count(); ++i) allowance.of_elements[i] = static_cast<float>(least(i));
    allowance.reason = "all correct computations give the same";
    return allowance;
  }
  const Differences differences(samples, nominal);
  allow_rare_flips(samples, differences, allowance);
  allowance.edge = differences.edge();
  differences.for_each_deviation(false, [&](uint64_t i, double deviation) {
    const double step = samples.steps.empty() ? 0 : samples.steps[i];
    allowance.of_elements[i] = static_cast<float>(least(i) + kMargin * deviation + step);
  });
  const double greatest = *std::ranges::max_element(differences.rms_of_runs());
  if (tensor.count() >= kLeastForRms && samples.steps.empty()) {
    allowance.rms = rms_limit(differences.rms_of_runs()) + rms_of(tensor.count(), least);
  }
  const auto unlimited =
      std::ranges::count_if(allowance.of_elements, [](float allowed) { return std::isinf(allowed); });
  if (static_cast<double>(unlimited) > kFewUnlimited * static_cast<double>(tensor.count())) {
    return {.reason = "runs with moved roundings give infinity or NaN where the reference gives numbers",
            .is_unknown = true};
  }
  const std::string runs =
      samples.moved.size() == 1
          ? "a run of the reference with roundings moved at random lies"
          : fmt::format("{} runs of the reference with roundings moved at random lie", samples.moved.size());
  allowance.reason = fmt::format("{} up to {:.3g} from it (root mean square)", runs, greatest);
  return allowance;
}

// Integers that quantizers make, and sums of them, are as uncertain as their neighbours; others only where a run says
// so.
bool is_quantity(DType dtype) { return tensor::is_integer(dtype) && tensor::bit_width(dtype) <= 32; }

compare::Allowance of_integers(const Samples& samples) {
  const Tensor& tensor = samples.nominal.tensor();
  compare::Allowance allowance;
  allowance.of_elements.assign(tensor.count(), 0);
  allowance.reason = "integers and truths are equal, unless an operand lies within its own tolerance of an edge";
  for (uint64_t i = 0; i < samples.steps.size(); ++i) allowance.of_elements[i] = samples.steps[i];
  if (samples.is_same()) return allowance;
  const Differences differences(samples, numbers(samples.nominal.tensor()));
  if (is_quantity(samples.nominal.declared())) allow_rare_flips(samples, differences, allowance);
  const DType dtype = samples.nominal.declared();
  const bool has_many_flips = differences.moved_count() >= kManyFlips;
  differences.for_each_deviation(false, [&](uint64_t i, double deviation) {
    const double greatest = differences.greatest(i);
    float& allowed = allowance.of_elements[i];
    if (is_quantity(dtype)) {
      const bool is_often = has_many_flips && deviation > kOftenFlips;
      const double steps = is_often ? std::floor(kMargin * deviation) + 1 : 0;
      allowed = std::max({allowed, static_cast<float>(steps), static_cast<float>(greatest)});
    } else if (greatest > 0) {
      allowed = dtype == DType::boolean ? 1 : std::numeric_limits<float>::infinity();
    }
  });
  return allowance;
}

}  // namespace

double least_share(DType declared, double least_roundoff) {
  const bool is_followed = tensor::bit_width(declared) < kLeastRounded;
  return std::max(is_followed ? roundoff(DType::float32) : roundoff(declared), least_roundoff);
}

double roundoff(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 0x1p-53;
    case DType::float16:
      return 0x1p-11;
    case DType::bfloat16:
      return 0x1p-8;
    case DType::float8e4m3fn:
    case DType::float8e4m3fnuz:
    case DType::float6e2m3:
      return 0x1p-4;
    case DType::float8e5m2:
    case DType::float8e5m2fnuz:
    case DType::float6e3m2:
      return 0x1p-3;
    case DType::float4e2m1:
      return 0x1p-2;
    case DType::float8e8m0:
      return 0.5;
    default:
      return 0x1p-24;
  }
}

uint64_t neighbours(const tensor::Shape& shape) {
  uint64_t count = 1;
  size_t axis = shape.size();
  while (axis > 0 && (axis > 2 || count < kLeastNeighbours)) count *= static_cast<uint64_t>(shape[--axis]);
  return std::max<uint64_t>(count, 1);
}

std::vector<float> reach(const Samples& samples, double margin) {
  const bool is_floating = samples.nominal.is_tensor() && tensor::is_floating(samples.nominal.declared());
  if (!is_floating || samples.is_same()) return {};
  std::vector<float> result(samples.nominal.tensor().count());
  const Differences differences(samples, numbers(samples.nominal.tensor()));
  differences.for_each_deviation(true, [&](uint64_t i, double deviation) {
    result[i] = differences.greatest(i) > 0 ? static_cast<float>(margin * deviation) : 0;
  });
  return result;
}

static compare::Allowance allowance_of_all(const Samples& samples, double least_roundoff) {
  const Datum& nominal = samples.nominal;
  if (!samples.unknown.empty()) return {.reason = samples.unknown, .is_unknown = true};
  const bool is_number =
      nominal.is_tensor() && (tensor::is_floating(nominal.declared()) || tensor::is_integer(nominal.declared()) ||
                              nominal.declared() == DType::boolean);
  if (!is_number) return {.reason = "errors of such values are not followed", .is_unknown = !samples.is_same()};
  return tensor::is_floating(nominal.declared()) ? of_floats(samples, least_roundoff) : of_integers(samples);
}

compare::Allowance allowance_of(const Samples& samples, double least_roundoff) {
  compare::Allowance allowance = allowance_of_all(samples, least_roundoff);
  allowance.is_early = !samples.is_same() && samples.moved.size() < kMovedRuns;
  return allowance;
}

compare::Allowance allowance_of(const Datum& nominal, const std::vector<double>& squares, double least_roundoff) {
  const std::vector<double> values = numbers(nominal.tensor());
  const double share = kLeastUlps * least_share(nominal.declared(), least_roundoff);
  const uint64_t block = neighbours(nominal.tensor().shape());
  compare::Allowance allowance{.reason = "the roundings of its products may do so much"};
  allowance.of_elements.resize(values.size());
  struct Sums {
    double all = 0;
    double least = 0;
  };
  const auto add_blocks = [&](uint64_t first, uint64_t last) {
    Sums sums;
    for (uint64_t begin = first * block; begin < std::min<uint64_t>(last * block, values.size()); begin += block) {
      const uint64_t end = std::min<uint64_t>(begin + block, values.size());
      double mean = 0;
      for (uint64_t i = begin; i < end; ++i) mean += squares[i] / static_cast<double>(end - begin);
      for (uint64_t i = begin; i < end; ++i) {
        const double least = std::isfinite(values[i]) ? kLeastDifference + share * std::fabs(values[i]) : 0;
        const double deviation = std::sqrt((kPriorRuns * mean + kMovedRuns * squares[i]) / (kPriorRuns + kMovedRuns));
        allowance.of_elements[i] = static_cast<float>(least + kMargin * deviation);
        sums.all += squares[i];
        sums.least += least * least;
      }
    }
    return sums;
  };
  const auto join = [](Sums a, const Sums& b) { return Sums{a.all + b.all, a.least + b.least}; };
  const uint64_t grain = std::max<uint64_t>(1, kPiece / block);
  const auto [all, least_squares] =
      parallel_reduce((values.size() + block - 1) / block, grain, Sums(), add_blocks, join);
  if (values.size() < kLeastForRms) return allowance;
  const auto count = static_cast<double>(values.size());
  allowance.rms = kRmsMargin * std::sqrt(2 * all / count) + std::sqrt(least_squares / count);
  return allowance;
}

}  // namespace assay::analysis
