#include "compare/heat_map.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "compare/difference_reader.h"

namespace assay::compare {
namespace {

using results::DifferenceMaps;
using results::HeatMap;

// A NaN is greater than all; the result does not depend on the order of calls, which may come from several threads.
void raise(float& cell, double value) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const float seen = std::isnan(value) ? kNaN : static_cast<float>(value);
  const std::atomic_ref<float> shared(cell);
  float now = shared.load(std::memory_order_relaxed);
  while ((seen > now || (std::isnan(seen) && !std::isnan(now))) &&
         !shared.compare_exchange_weak(now, seen, std::memory_order_relaxed)) {
  }
}

// The cells of elements: `images` of height x width elements, each drawn with rows x columns cells, in lines side by
// side.
class Layout {
 public:
  Layout(const tensor::Shape& shape, uint64_t count, PictureLimit limit) {
    const size_t rank = shape.size();
    width_ = rank > 0 ? static_cast<uint64_t>(shape[rank - 1]) : 1;
    height_ = rank > 1 ? static_cast<uint64_t>(shape[rank - 2]) : 1;
    images_ = count / width_ / height_;
    if (images_ * height_ == 1 && width_ > kLongestLine) break_line();
    gap_ = images_ > 1 && height_ > 1 && width_ > 1 ? 1 : 0;
    arrange(limit);
  }

  bool is_reduced() const { return rows_ < height_ || columns_ < width_ || images_a_slot_ > 1; }
  uint32_t picture_rows() const { return static_cast<uint32_t>(slot_lines_ * (rows_ + gap_) - gap_); }
  uint32_t picture_columns() const { return static_cast<uint32_t>(slots_a_line_ * (columns_ + gap_) - gap_); }

  // Calls fn(cell, begin, end) for the runs of elements of [begin, end) that lie in one cell.
  template <typename Fn>
  void for_each_run(uint64_t begin, uint64_t end, Fn fn) const {
    while (begin < end) {
      const uint64_t line = begin / width_;
      const uint64_t line_end = std::min(end, (line + 1) * width_);
      for_each_run_of_line(line, {begin, line_end}, fn);
      begin = line_end;
    }
  }

 private:
  static constexpr uint64_t kLongestLine = 64;

  // One long line is drawn as a square, in reading order.
  void break_line() {
    const uint64_t count = width_;
    width_ = static_cast<uint64_t>(std::ceil(std::sqrt(static_cast<double>(count))));
    height_ = count / width_ + (count % width_ != 0);
  }

  void arrange(PictureLimit limit) {
    const double shape = static_cast<double>(height_ + gap_) / static_cast<double>(width_ + gap_);
    const double wanted = std::sqrt(static_cast<double>(images_) * shape * limit.columns / limit.rows);
    const uint64_t most = std::min<uint64_t>(images_, limit.columns / (1 + gap_));
    slots_a_line_ = std::clamp<uint64_t>(static_cast<uint64_t>(std::min(std::ceil(wanted), 1e9)), 1, most);
    slot_lines_ = images_ / slots_a_line_ + (images_ % slots_a_line_ != 0);
    slot_lines_ = std::min<uint64_t>(slot_lines_, limit.rows / (1 + gap_));
    const uint64_t slots = slots_a_line_ * slot_lines_;
    images_a_slot_ = images_ / slots + (images_ % slots != 0);
    rows_ = std::min<uint64_t>(height_, (limit.rows + gap_) / slot_lines_ - gap_);
    columns_ = std::min<uint64_t>(width_, (limit.columns + gap_) / slots_a_line_ - gap_);
  }

  template <typename Fn>
  void for_each_run_of_line(uint64_t line, std::pair<uint64_t, uint64_t> range, Fn fn) const {
    const uint64_t slot = line / height_ / images_a_slot_;
    const uint64_t row = slot / slots_a_line_ * (rows_ + gap_) + scaled(line % height_, rows_, height_);
    const uint64_t corner = row * picture_columns() + slot % slots_a_line_ * (columns_ + gap_);
    const uint64_t start = line * width_;
    for (uint64_t at = range.first; at < range.second;) {
      const uint64_t column = columns_ == width_ ? at - start : scaled(at - start, columns_, width_);
      const uint64_t next = columns_ == width_ ? at + 1 : start + first_of(column + 1);
      const uint64_t stop = std::min(range.second, next);
      fn(corner + column, at, stop);
      at = stop;
    }
  }

  // index * cells / size without overflow; cells are few.
  static uint64_t scaled(uint64_t index, uint64_t cells, uint64_t size) {
    return index / size * cells + (index % size) * cells / size;
  }
  // The first element of a line that lies in a column.
  uint64_t first_of(uint64_t column) const { return (column * width_ + columns_ - 1) / columns_; }

  uint64_t width_, height_, images_;
  uint64_t gap_ = 0;
  uint64_t slots_a_line_ = 1, slot_lines_ = 1, images_a_slot_ = 1;
  uint64_t rows_ = 1, columns_ = 1;
};

HeatMap empty_map(uint32_t rows, uint32_t columns) {
  return {rows, columns, std::vector<float>(uint64_t{rows} * columns, HeatMap::kNoElement)};
}

void draw(const DifferenceReader& reader, const Layout& layout, DifferenceMaps& maps) {
  constexpr uint64_t kGrain = uint64_t{1} << 18;
  parallel_for(reader.count(), kGrain, [&](uint64_t begin, uint64_t end) {
    DifferenceReader::Piece piece;
    for (uint64_t first = begin; first < end; first += DifferenceReader::kMostElements) {
      const uint64_t size = std::min(end - first, DifferenceReader::kMostElements);
      reader.read(first, size, piece);
      layout.for_each_run(first, first + size, [&](uint64_t cell, uint64_t from, uint64_t to) {
        for (uint64_t i = from - first; i < to - first; ++i) {
          raise(maps.absolute.cells[cell], piece.absolute[i]);
          raise(maps.relative.cells[cell], piece.relative[i]);
        }
      });
    }
  });
}

// Every cell of an image holds the same; the layout is that of a picture of the whole shape.
void draw_constant(const DifferenceReader& reader, DifferenceMaps& maps) {
  DifferenceReader::Piece piece;
  reader.read(0, 1, piece);
  for (float& cell : maps.absolute.cells) raise(cell, piece.absolute[0]);
  for (float& cell : maps.relative.cells) raise(cell, piece.relative[0]);
}

}  // namespace

DifferenceMaps difference_maps(const tensor::Tensor& a, const tensor::Tensor& b, PictureLimit limit,
                               bool infinities_equal) {
  const DifferenceReader reader(a, b, infinities_equal);
  DifferenceMaps maps;
  if (reader.count() == 0) return maps;
  const Layout layout(a.shape(), a.count(), limit);
  maps.absolute = empty_map(layout.picture_rows(), layout.picture_columns());
  maps.relative = maps.absolute;
  maps.is_reduced = layout.is_reduced();
  if (reader.is_constant())
    draw_constant(reader, maps);
  else
    draw(reader, layout, maps);
  return maps;
}

HeatMap reduced(const HeatMap& map, PictureLimit limit) {
  if (map.rows <= limit.rows && map.columns <= limit.columns) return map;
  HeatMap result = empty_map(std::min(map.rows, limit.rows), std::min(map.columns, limit.columns));
  for (uint64_t row = 0; row < map.rows; ++row) {
    const uint64_t line = row * result.rows / map.rows * result.columns;
    for (uint64_t column = 0; column < map.columns; ++column) {
      raise(result.cells[line + column * result.columns / map.columns], map.cells[row * map.columns + column]);
    }
  }
  return result;
}

}  // namespace assay::compare
