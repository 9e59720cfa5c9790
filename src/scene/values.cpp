#include "scene/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/parallel.h"
#include "compare/statistics.h"
#include "inspect/data/slice.h"
#include "tensor/casts.h"
#include "tensor/index.h"

namespace assay::scene {
namespace {

using tensor::Tensor;

constexpr uint64_t kTile = 4096;
constexpr uint64_t kTilesAPiece = 64;
constexpr size_t kMostChannels = 4096;
constexpr double kGreatestFloat16 = 65504;
constexpr int kLeastExponent = -64;  // of the histogram of magnitudes; what is smaller counts there
constexpr int kExponents = 128;
constexpr size_t kMostCells = 4'000'000;  // elements that a slice looks at; of more, rows are left out
constexpr uint64_t kMostStep = 16;
constexpr size_t kMostPoints = 2000;
constexpr size_t kMostWorst = 12;
constexpr size_t kBins = 64;

// Counts of one piece.
struct Tally {
  uint64_t zeros = 0;
  uint64_t subnormals = 0;
  uint64_t outside = 0;
  std::array<uint64_t, kExponents> exponents{};

  void add(double x, double least_normal) {
    const double size = std::abs(x);
    if (size == 0) {
      ++zeros;
      return;
    }
    if (!std::isfinite(x)) return;
    subnormals += size < least_normal;
    outside += size > kGreatestFloat16;
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &size, sizeof(bits));
    const int exponent = static_cast<int>(bits >> 52U) - 1023;
    ++exponents[static_cast<size_t>(std::clamp(exponent - kLeastExponent, 0, kExponents - 1))];
  }
  void add(const Tally& other) {
    zeros += other.zeros;
    subnormals += other.subnormals;
    outside += other.outside;
    for (size_t i = 0; i < exponents.size(); ++i) exponents[i] += other.exponents[i];
  }
};

double least_normal(tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::float16:
      return 6.103515625e-05;
    case tensor::DType::float64:
      return std::numeric_limits<double>::min();
    case tensor::DType::float32:
    case tensor::DType::bfloat16:
      return std::numeric_limits<float>::min();
    default:
      return 0;
  }
}

// Calls fn(first, elements) for tiles, from several threads, each piece with a result of its own.
template <typename Result, typename Fn>
Result for_tiles(const Tensor& tensor, Fn&& fn) {
  const Bytes bytes = tensor.bytes();
  const uint64_t tiles = (tensor.count() + kTile - 1) / kTile;
  const auto piece = [&](uint64_t begin, uint64_t end) {
    Result result;
    std::array<double, kTile> buffer;
    for (uint64_t tile = begin; tile < end; ++tile) {
      const uint64_t first = tile * kTile;
      const std::span<double> elements = std::span(buffer).first(std::min(kTile, tensor.count() - first));
      tensor::load(tensor.dtype(), bytes, first, elements);
      fn(result, first, elements);
    }
    return result;
  };
  return parallel_reduce(tiles, kTilesAPiece, Result(), piece, [](Result a, const Result& b) {
    a.add(b);
    return a;
  });
}

// The bins that have something between the first and the last one, as logarithms to the base 10.
results::Histogram magnitudes(const Tally& tally) {
  results::Histogram histogram;
  const auto is_used = [](uint64_t count) { return count != 0; };
  const auto first = std::ranges::find_if(tally.exponents, is_used) - tally.exponents.begin();
  if (first == kExponents) return histogram;
  auto end = static_cast<ptrdiff_t>(kExponents);
  while (tally.exponents[static_cast<size_t>(end - 1)] == 0) --end;
  for (ptrdiff_t i = first; i <= end; ++i) {
    histogram.edges.push_back(static_cast<double>(i + kLeastExponent) * std::log10(2.0));
    if (i < end) histogram.counts.push_back(tally.exponents[static_cast<size_t>(i)]);
  }
  return histogram;
}

std::vector<results::ChannelRange> channels(const Tensor& tensor, size_t axis) {
  const tensor::Shape& shape = tensor.shape();
  if (shape.size() < 2 || axis >= shape.size() || tensor.count() == 0) return {};
  const auto count = static_cast<uint64_t>(shape[axis]);
  if (count < 2 || count > kMostChannels) return {};
  uint64_t inner = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= static_cast<uint64_t>(shape[i]);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<results::ChannelRange> ranges(count, {.least = kInfinity, .mean = 0, .greatest = -kInfinity});
  const Bytes bytes = tensor.bytes();
  const uint64_t outer = tensor.count() / count / inner;
  parallel_for(count, 1 + kTile / inner, [&](uint64_t begin, uint64_t end) {
    std::vector<double> elements(std::min(inner, kTile));
    for (uint64_t channel = begin; channel < end; ++channel) {
      results::ChannelRange& range = ranges[channel];
      for (uint64_t o = 0; o < outer; ++o) {
        for (uint64_t i = 0; i < inner; i += kTile) {
          const std::span<double> part = std::span(elements).first(std::min(kTile, inner - i));
          tensor::load(tensor.dtype(), bytes, (o * count + channel) * inner + i, part);
          for (const double x : part) {
            range.least = std::min(range.least, x);
            range.greatest = std::max(range.greatest, x);
            range.mean += x;
          }
        }
      }
      range.mean /= static_cast<double>(outer * inner);
    }
  });
  return ranges;
}

// Places along one axis.
struct Axis {
  int64_t first = 0;
  int64_t step = 1;
  int64_t count = 1;
  int64_t stride = 1;  // elements from one place to the next
};

int64_t clamped(int64_t place, int64_t dim) {
  return place < 0 ? std::max<int64_t>(place + dim, 0) : std::min(place, dim);
}

Axis axis_of(const inspect::AxisSlice& slice, int64_t dim, int64_t stride) {
  if (slice.is_index) {
    const int64_t place = *slice.begin < 0 ? *slice.begin + dim : *slice.begin;
    if (place < 0 || place >= dim)
      fail(ErrorCode::usage, "slice: index {} is out of range for {} elements", *slice.begin, dim);
    return {.first = place, .stride = stride};
  }
  const int64_t begin = clamped(slice.begin.value_or(0), dim);
  const int64_t end = std::max(begin, clamped(slice.end.value_or(dim), dim));
  return {.first = begin, .step = slice.step, .count = (end - begin + slice.step - 1) / slice.step, .stride = stride};
}

class SliceReader {
 public:
  SliceReader(const Tensor& tensor, std::string_view slice, Reduction reduction, size_t most);
  results::ValueSlice run();

 private:
  int64_t row_offset(uint64_t row) const;
  void add_row(uint64_t row);
  void finish(std::vector<double>& sums);

  const Tensor& tensor_;
  Reduction reduction_;
  std::vector<Axis> outer_;  // make rows
  Axis inner_;
  int64_t base_ = 0;  // from axes that are given by an index
  results::ValueSlice slice_;
  uint64_t all_rows_ = 1;
  std::vector<double> cells_;
  std::vector<uint64_t> counts_;
  std::vector<double> row_;
};

SliceReader::SliceReader(const Tensor& tensor, std::string_view text, Reduction reduction, size_t most)
    : tensor_(tensor), reduction_(reduction) {
  const inspect::Slice slice = text.empty() ? inspect::Slice() : inspect::parse_slice(text);
  const tensor::Shape& shape = tensor.shape();
  if (slice.size() > shape.size()) {
    fail(ErrorCode::usage, "a slice of {} axes of an array of {}", slice.size(), shape.size());
  }
  std::vector<Axis> left;
  auto stride = static_cast<int64_t>(1);
  for (size_t i = shape.size(); i-- > 0;) {
    const inspect::AxisSlice part = i < slice.size() ? slice[i] : inspect::AxisSlice();
    const Axis axis = axis_of(part, shape[i], stride);
    stride *= std::max<int64_t>(shape[i], 1);
    if (part.is_index) base_ += axis.first * axis.stride;
    if (!part.is_index) left.insert(left.begin(), axis);
  }
  for (const Axis& axis : left) slice_.dims.push_back(axis.count);
  if (!left.empty()) {
    inner_ = left.back();
    left.pop_back();
  }
  outer_ = std::move(left);
  for (const Axis& axis : outer_) all_rows_ *= static_cast<uint64_t>(axis.count);
  slice_.rows = std::min<uint64_t>(all_rows_, most);
  slice_.columns = std::min<uint64_t>(static_cast<uint64_t>(inner_.count), most);
  slice_.is_reduced = slice_.rows < all_rows_ || slice_.columns < static_cast<uint64_t>(inner_.count);
}

int64_t SliceReader::row_offset(uint64_t row) const {
  int64_t offset = base_ + inner_.first * inner_.stride;
  for (size_t i = outer_.size(); i-- > 0;) {
    const auto count = static_cast<uint64_t>(outer_[i].count);
    offset += (outer_[i].first + static_cast<int64_t>(row % count) * outer_[i].step) * outer_[i].stride;
    row /= count;
  }
  return offset;
}

void SliceReader::add_row(uint64_t row) {
  const auto count = static_cast<uint64_t>(inner_.count);
  const auto step = static_cast<uint64_t>(inner_.step * inner_.stride);
  const Bytes bytes = tensor_.bytes();
  const auto first = static_cast<uint64_t>(row_offset(row));
  const bool is_dense = step <= kMostStep;  // elements between those that are wanted are read with them
  row_.resize(is_dense ? (count - 1) * step + 1 : count);
  if (is_dense) tensor::load(tensor_.dtype(), bytes, first, row_);
  for (uint64_t i = 0; i < count && !is_dense; ++i) {
    tensor::load(tensor_.dtype(), bytes, first + i * step, std::span(row_).subspan(i, 1));
  }
  const uint64_t target = row * slice_.rows / all_rows_ * slice_.columns;
  for (uint64_t i = 0; i < count; ++i) {
    const double x = row_[is_dense ? i * step : i];
    const uint64_t at = target + i * slice_.columns / count;
    double& cell = cells_[at];
    const bool is_first = counts_[at]++ == 0;
    if (reduction_ == Reduction::mean)
      cell += x;
    else if (is_first || std::isnan(x) || (reduction_ == Reduction::greatest ? x > cell : x < cell))
      cell = x;
  }
}

results::ValueSlice SliceReader::run() {
  if (inner_.count == 0 || all_rows_ == 0 || tensor_.count() == 0) {
    slice_.rows = slice_.columns = 0;
    return std::move(slice_);
  }
  cells_.assign(slice_.rows * slice_.columns, 0);
  counts_.assign(cells_.size(), 0);
  const uint64_t elements = all_rows_ * static_cast<uint64_t>(inner_.count);
  const uint64_t every = std::clamp<uint64_t>(elements / kMostCells, 1, std::max<uint64_t>(1, all_rows_ / slice_.rows));
  for (uint64_t row = 0; row < all_rows_; row += every) add_row(row);
  bool is_first = true;
  for (size_t i = 0; i < cells_.size(); ++i) {
    const double x = reduction_ == Reduction::mean ? cells_[i] / static_cast<double>(counts_[i]) : cells_[i];
    slice_.cells.push_back(static_cast<float>(x));
    if (std::isnan(x)) continue;
    slice_.least = is_first ? x : std::min(slice_.least, x);
    slice_.greatest = is_first ? x : std::max(slice_.greatest, x);
    is_first = false;
  }
  return std::move(slice_);
}

// The elements that differ most, the worst first.
void add_worst(const Tensor& tensor, std::span<const double> left, std::span<const double> right,
               results::ValueComparison& comparison) {
  std::vector<uint64_t> order(left.size());
  for (uint64_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto difference = [&](uint64_t i) {
    const double d = std::abs(left[i] - right[i]);
    if (std::isnan(d)) return left[i] == right[i] || (std::isnan(left[i]) && std::isnan(right[i])) ? -1.0 : HUGE_VAL;
    return d;
  };
  const size_t count = std::min(kMostWorst, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(),
      [&](uint64_t a, uint64_t b) { return std::pair(-difference(a), a) < std::pair(-difference(b), b); });
  for (size_t i = 0; i < count; ++i) {
    if (difference(order[i]) <= 0) break;
    comparison.worst.push_back({tensor::index_of(order[i], tensor.shape()), left[order[i]], right[order[i]]});
  }
}

results::Histogram histogram_between(std::span<const double> elements, double least, double greatest) {
  results::Histogram histogram;
  for (size_t i = 0; i <= kBins; ++i) {
    histogram.edges.push_back(least + (greatest - least) * static_cast<double>(i) / static_cast<double>(kBins));
  }
  histogram.counts.assign(kBins, 0);
  for (const double x : elements) {
    if (!std::isfinite(x)) continue;
    const auto bin = static_cast<size_t>((x - least) / (greatest - least) * static_cast<double>(kBins));
    ++histogram.counts[std::min(bin, kBins - 1)];
  }
  return histogram;
}

}  // namespace

results::ValueFacts value_facts(const Tensor& tensor, size_t channel_axis) {
  results::ValueFacts facts;
  facts.stats = compare::statistics(tensor, {.percentiles = true, .histogram = true});
  const double normal = least_normal(tensor.dtype());
  const Tally tally = for_tiles<Tally>(tensor, [&](Tally& sum, uint64_t, std::span<const double> elements) {
    for (const double x : elements) sum.add(x, normal);
  });
  facts.zeros = tally.zeros;
  facts.subnormals = tally.subnormals;
  facts.outside_float16 = tally.outside;
  facts.magnitudes = magnitudes(tally);
  if (facts.stats.percentiles) {
    const results::Percentiles& p = *facts.stats.percentiles;
    facts.percentiles = {{50, p.median}, {90, p.p90}, {95, p.p95}, {99, p.p99}};
  }
  facts.channels = channels(tensor, channel_axis);
  return facts;
}

results::ValueSlice value_slice(const Tensor& tensor, std::string_view slice, Reduction reduction, size_t most) {
  return SliceReader(tensor, slice, reduction, most).run();
}

results::ValueComparison compare_values(const Tensor& left, const Tensor& right) {
  if (left.shape() != right.shape()) fail(ErrorCode::shape, "the two values have different shapes");
  std::vector<double> a(left.count());
  std::vector<double> b(right.count());
  tensor::load(left.dtype(), left.bytes(), 0, a);
  tensor::load(right.dtype(), right.bytes(), 0, b);
  results::ValueComparison comparison;
  double least = HUGE_VAL;
  double greatest = -HUGE_VAL;
  for (const std::vector<double>* side : {&a, &b}) {
    for (const double x : *side) {
      if (std::isfinite(x)) least = std::min(least, x), greatest = std::max(greatest, x);
    }
  }
  if (least < greatest) {
    comparison.histograms = {histogram_between(a, least, greatest), histogram_between(b, least, greatest)};
  }
  const size_t step = std::max<size_t>(1, (a.size() + kMostPoints - 1) / kMostPoints);
  for (size_t i = 0; i < a.size(); i += step) comparison.points.emplace_back(a[i], b[i]);
  add_worst(left, a, b, comparison);
  return comparison;
}

}  // namespace assay::scene
