#include "ops/kernels/movement/places.h"

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/movement/movement.h"

namespace assay::ops {
namespace {

using tensor::Shape;
using tensor::Tensor;

class MapMover {
 public:
  MapMover(const Tensor& from, std::span<const AxisMap> maps, const Tensor* fill)
      : maps_(maps),
        strides_(row_major_strides(from.shape())),
        source_(from),
        filler_(fill ? *fill : Tensor()),
        fill_(fill ? *fill : from),
        target_(from.dtype(), shape_of(maps)),
        runs_(runs_of(maps.back())) {}

  Tensor move() {
    const uint64_t row = maps_.back().size();
    uint64_t rows = row == 0 ? 0 : 1;
    for (const AxisMap& map : maps_.first(maps_.size() - 1)) rows *= map.size();
    parallel_for(rows, std::max<uint64_t>(16384 / std::max<uint64_t>(row, 1), 1), [&](uint64_t begin, uint64_t end) {
      for (uint64_t r = begin; r < end; ++r) move_row(r, r * row);
    });
    return target_.finish();
  }

 private:
  static Shape shape_of(std::span<const AxisMap> maps) {
    Shape shape;
    for (const AxisMap& map : maps) shape.push_back(static_cast<int64_t>(map.size()));
    return shape;
  }

  void move_row(uint64_t row, uint64_t target) {
    int64_t base = 0;
    for (size_t a = maps_.size() - 1; a-- > 0;) {
      const int64_t index = maps_[a][row % maps_[a].size()];
      row /= maps_[a].size();
      if (index == kNowhere) return fill(target, maps_.back().size());
      base += index * strides_[a];
    }
    for (const AxisRun& run : runs_) {
      if (run.source == kNowhere) {
        fill(target + run.target, run.count);
      } else {
        target_.copy(source_, static_cast<uint64_t>(base + run.source), target + run.target, run.count);
      }
    }
  }

  void fill(uint64_t target, uint64_t count) {
    if (filler_.count() != 0) target_.fill(fill_, 0, target, count);
  }

  std::span<const AxisMap> maps_;
  std::vector<int64_t> strides_;
  MoveFrom source_;
  Tensor filler_;
  MoveFrom fill_;
  MoveTo target_;
  std::vector<AxisRun> runs_;
};

}  // namespace

std::vector<AxisRun> runs_of(const AxisMap& map) {
  std::vector<AxisRun> runs;
  for (uint64_t i = 0; i < map.size(); ++i) {
    const bool continues =
        !runs.empty() &&
        map[i] ==
            (runs.back().source == kNowhere ? kNowhere : runs.back().source + static_cast<int64_t>(runs.back().count));
    if (continues) {
      ++runs.back().count;
    } else {
      runs.push_back({i, map[i], 1});
    }
  }
  return runs;
}

uint64_t checked_index(int64_t index, uint64_t length) {
  const auto limit = static_cast<int64_t>(length);
  if (index < -limit || index >= limit) {
    fail(ErrorCode::shape, "index {} is out of range, it must be from {} to {}", index, -limit, limit - 1);
  }
  return static_cast<uint64_t>(index < 0 ? index + limit : index);
}

void require_indices_within(const Infer& node, size_t axis) {
  for (size_t a = 0; a < node.dims(0).size(); ++a) {
    const std::optional<int64_t> limit = node.dims(0)[a].number();
    const std::optional<int64_t> seen = node.dims(1)[a].number();
    if (a == axis || !limit || !seen || *seen <= *limit) continue;
    fail(ErrorCode::shape, "indices of shape {} reach beyond the data of shape {} at axis {}", text(node.dims(1)),
         text(node.dims(0)), a);
  }
}

std::vector<int64_t> broadcast_strides(const Shape& from, const Shape& to) {
  const std::vector<int64_t> own = row_major_strides(from);
  std::vector<int64_t> strides(to.size(), 0);
  const size_t lead = to.size() - from.size();
  for (size_t a = 0; a < from.size(); ++a) strides[lead + a] = from[a] == 1 ? 0 : own[a];
  return strides;
}

int64_t strided_place(uint64_t place, const Shape& shape, std::span<const int64_t> strides) {
  int64_t result = 0;
  for (size_t a = shape.size(); a-- > 0;) {
    const auto dim = static_cast<uint64_t>(shape[a]);
    result += static_cast<int64_t>(place % dim) * strides[a];
    place /= dim;
  }
  return result;
}

IndexedPlaces::IndexedPlaces(const Shape& data, const Shape& indices, size_t along)
    : shape(indices),
      strides(row_major_strides(data)),
      step(static_cast<uint64_t>(strides[along])),
      length(static_cast<uint64_t>(data[along])) {
  strides[along] = 0;
}

void IndexedPlaces::find(std::span<const int64_t> indices, uint64_t begin, std::span<uint64_t> places) const {
  const auto row = static_cast<uint64_t>(shape.back());
  const auto stride = static_cast<uint64_t>(strides.back());
  for (uint64_t i = 0; i < places.size();) {
    const uint64_t first = (begin + i) % row;
    const uint64_t count = std::min<uint64_t>(row - first, places.size() - i);
    auto place = static_cast<uint64_t>(strided_place(begin + i, shape, strides));
    for (uint64_t k = i; k < i + count; ++k, place += stride) {
      places[k] = place + checked_index(indices[k], length) * step;
    }
    i += count;
  }
}

Tensor move_by_maps(const Tensor& from, std::span<const AxisMap> maps, const Tensor* fill) {
  if (maps.empty()) return from;
  return MapMover(from, maps, fill).move();
}

int64_t mapped_place(uint64_t place, const Shape& from, std::span<const AxisMap> maps) {
  const std::vector<int64_t> strides = row_major_strides(from);
  int64_t result = 0;
  for (size_t a = maps.size(); a-- > 0;) {
    const int64_t index = maps[a][place % maps[a].size()];
    place /= maps[a].size();
    if (index == kNowhere) return kNowhere;
    result += index * strides[a];
  }
  return result;
}

}  // namespace assay::ops
