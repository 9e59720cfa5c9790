#include "compare/scatter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "compare/difference_reader.h"

namespace assay::compare {
namespace {

using results::AxisRange;
using results::Scatter;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Ranges {
  AxisRange magnitude{kInfinity, 0};
  AxisRange absolute{0, 0};
  AxisRange relative{kInfinity, 0};  // of those that are not 0
  uint64_t left_out = 0;
};

struct Counts {
  std::vector<uint32_t> absolute;
  std::vector<uint32_t> relative;
};

void widen(AxisRange& range, double value) {
  range.least = std::min(range.least, value);
  range.greatest = std::max(range.greatest, value);
}

Ranges joined(Ranges x, const Ranges& y) {
  x.magnitude = {std::min(x.magnitude.least, y.magnitude.least), std::max(x.magnitude.greatest, y.magnitude.greatest)};
  x.absolute.greatest = std::max(x.absolute.greatest, y.absolute.greatest);
  x.relative = {std::min(x.relative.least, y.relative.least), std::max(x.relative.greatest, y.relative.greatest)};
  x.left_out += y.left_out;
  return x;
}

// Calls fn(piece, index) for all elements of [begin, end).
template <typename Fn>
void for_each(const DifferenceReader& reader, uint64_t begin, uint64_t end, Fn fn) {
  DifferenceReader::Piece piece;
  for (uint64_t first = begin; first < end; first += DifferenceReader::kMostElements) {
    const uint64_t size = std::min(end - first, DifferenceReader::kMostElements);
    reader.read(first, size, piece);
    for (uint64_t i = 0; i < size; ++i) fn(piece, i);
  }
}

bool is_drawn(const DifferenceReader::Piece& piece, uint64_t i) {
  return std::isfinite(piece.absolute[i]) && std::isfinite(piece.magnitude[i]);
}

bool has_relative(const DifferenceReader::Piece& piece, uint64_t i) {
  return std::isfinite(piece.relative[i]) && piece.relative[i] > 0;
}

Ranges find_ranges(const DifferenceReader& reader, uint64_t begin, uint64_t end) {
  Ranges ranges;
  for_each(reader, begin, end, [&](const DifferenceReader::Piece& piece, uint64_t i) {
    if (!is_drawn(piece, i)) {
      ++ranges.left_out;
      return;
    }
    widen(ranges.magnitude, piece.magnitude[i]);
    widen(ranges.absolute, piece.absolute[i]);
    if (has_relative(piece, i)) widen(ranges.relative, piece.relative[i]);
  });
  return ranges;
}

// One axis cut into equal cells.
class Axis {
 public:
  Axis(AxisRange range, uint32_t cells)
      : least_(range.least), length_(range.greatest - range.least), last_(cells - 1) {}

  uint32_t cell(double value) const {
    return static_cast<uint32_t>(
        std::clamp((value - least_) / length_ * (last_ + 1.0), 0.0, static_cast<double>(last_)));
  }
  uint32_t cell_from_above(double value) const { return last_ - cell(value); }

 private:
  double least_;
  double length_;
  uint32_t last_;
};

class Binning {
 public:
  explicit Binning(const Scatter& plot)
      : columns_(plot.columns),
        size_(uint64_t{plot.columns} * plot.rows),
        magnitude_(plot.magnitude, plot.columns),
        absolute_(plot.absolute.difference, plot.rows),
        relative_({std::log10(plot.relative.difference.least), std::log10(plot.relative.difference.greatest)},
                  plot.rows) {}

  Counts count(const DifferenceReader& reader, uint64_t begin, uint64_t end) const {
    Counts counts = {std::vector<uint32_t>(size_), std::vector<uint32_t>(size_)};
    for_each(reader, begin, end, [&](const DifferenceReader::Piece& piece, uint64_t i) {
      if (!is_drawn(piece, i)) return;
      const uint64_t column = magnitude_.cell(piece.magnitude[i]);
      add(counts.absolute[uint64_t{absolute_.cell_from_above(piece.absolute[i])} * columns_ + column], 1);
      if (!has_relative(piece, i)) return;
      add(counts.relative[uint64_t{relative_.cell_from_above(std::log10(piece.relative[i]))} * columns_ + column], 1);
    });
    return counts;
  }

  static Counts joined(Counts x, const Counts& y) {
    if (x.absolute.empty()) return y;
    for (size_t i = 0; i < y.absolute.size(); ++i) add(x.absolute[i], y.absolute[i]);
    for (size_t i = 0; i < y.relative.size(); ++i) add(x.relative[i], y.relative[i]);
    return x;
  }

 private:
  static void add(uint32_t& count, uint32_t more) { count += std::min(more, ~count); }

  uint64_t columns_;
  uint64_t size_;
  Axis magnitude_;
  Axis absolute_;
  Axis relative_;
};

// From 0, and not empty.
AxisRange linear(AxisRange range) {
  if (range.greatest == 0) return {0, 1};
  return {0, range.greatest};
}

// Whole decades.
AxisRange decades(AxisRange range) {
  if (!(range.greatest > 0)) return {0.1, 1};
  const double least = std::floor(std::log10(range.least));
  const double greatest = std::max(std::ceil(std::log10(range.greatest)), least + 1);
  constexpr double kLeast = -307, kGreatest = 308;
  return {std::pow(10, std::clamp(least, kLeast, kGreatest - 1)),
          std::pow(10, std::clamp(greatest, -306.0, kGreatest))};
}

}  // namespace

results::Scatter scatter(const tensor::Tensor& a, const tensor::Tensor& b, ScatterSize size) {
  const DifferenceReader reader(a, b, false);
  // Each piece has its own counts: few pieces.
  const uint64_t grain = std::max<uint64_t>(uint64_t{1} << 20, reader.count() / 16 / 1024 * 1024 + 1024);
  const Ranges ranges = parallel_reduce(
      reader.count(), grain, Ranges(), [&](uint64_t begin, uint64_t end) { return find_ranges(reader, begin, end); },
      joined);
  Scatter plot = {.columns = size.columns, .rows = size.rows, .left_out = ranges.left_out};
  plot.magnitude = linear(ranges.magnitude);
  plot.absolute.difference = linear(ranges.absolute);
  plot.relative.difference = decades(ranges.relative);
  const Binning binning(plot);
  Counts counts = parallel_reduce(
      reader.count(), grain, Counts(), [&](uint64_t begin, uint64_t end) { return binning.count(reader, begin, end); },
      Binning::joined);
  counts.absolute.resize(uint64_t{size.columns} * size.rows);
  counts.relative.resize(uint64_t{size.columns} * size.rows);
  plot.absolute.counts = std::move(counts.absolute);
  plot.relative.counts = std::move(counts.relative);
  return plot;
}

}  // namespace assay::compare
