#include <algorithm>

#include "base/parallel.h"
#include "ops/kernels/movement/movement.h"
#include "ops/kernels/quantization/saturate.h"
#include "ops/kernels/window/grid.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_grid_sample(Infer& node) {
  grid_mode(node);
  grid_padding(node);
  if (!node.is_ranked(0)) return;
  const int64_t rank = node.rank(0);
  if (node.version() < 20) node.require_rank(0, 4);
  if (rank < 3) fail(ErrorCode::shape, "the input has no spatial axes, its shape is {}", text(node.dims(0)));
  node.require_rank(1, rank);
  Dims dims(node.dims(0).size());
  dims[0] = node.dims(0)[0];
  dims[1] = node.dims(0)[1];
  if (node.is_ranked(1)) {
    const Dims& grid = node.dims(1);
    dims[0] = unify(dims[0], grid[0], "batch sizes of input and grid");
    unify(grid.back(), rank - 2, "the last dim of the grid and the number of spatial axes");
    std::copy(grid.begin() + 1, grid.end() - 1, dims.begin() + 2);
  }
  node.set_dims(0, std::move(dims));
}

class Sampler {
 public:
  explicit Sampler(const Eval& node) : mode_(grid_mode(node)), grid_(node.load<double>(1)) {
    const Shape& shape = node.shape(0);
    for (size_t i = 2; i < shape.size(); ++i)
      axes_.push_back({shape[i], grid_padding(node), node.flag("align_corners")});
    for (size_t i = 0; i < 2 && mode_ == GridMode::nearest; ++i) shifts_[i] = 2 * node.place_shift(i);
    for (const GridAxis& axis : axes_) plane_ *= static_cast<uint64_t>(axis.length);
    channels_ = static_cast<uint64_t>(shape[1]);
    const Shape out = node.out_shape(0);
    for (size_t i = 2; i < out.size(); ++i) points_ *= static_cast<uint64_t>(out[i]);
  }

  // Calls fn(place in the output, place of the first element of the input plane, picks along each axis).
  template <typename Fn>
  void each(uint64_t count, Fn fn) const {
    if (count == 0) return;
    parallel_for(count / (points_ * channels_) * points_, 64, [&](uint64_t begin, uint64_t end) {
      for (uint64_t at = begin; at < end; ++at) {
        std::vector<GridPicks> picks;  // the grid names the last axis first
        for (size_t i = 0; i < axes_.size(); ++i) {
          picks.emplace_back(mode_, axes_[i], grid_[(at + 1) * axes_.size() - 1 - i] + shifts_[i % 2]);
        }
        const uint64_t plane = at / points_ * channels_;
        for (uint64_t c = 0; c < channels_; ++c) {
          fn((plane + c) * points_ + at % points_, (plane + c) * plane_, picks);
        }
      }
    });
  }

  double weighted(const double* data, const std::vector<GridPicks>& picks, size_t axis, uint64_t line) const {
    if (axis == picks.size()) return data[line];
    double sum = 0;
    for (int i = 0; i < picks[axis].count; ++i) {
      const int64_t element = picks[axis].elements[i];
      const double weight = picks[axis].weights[i];
      if (element < 0 || weight == 0) continue;
      const uint64_t inner = line * static_cast<uint64_t>(axes_[axis].length) + static_cast<uint64_t>(element);
      sum += weight * weighted(data, picks, axis + 1, inner);
    }
    return sum;
  }

 private:
  GridMode mode_;
  std::vector<double> grid_;
  std::vector<GridAxis> axes_;
  double shifts_[2] = {0, 0};  // of places: an axis goes from -1 to 1
  uint64_t channels_ = 0;
  uint64_t plane_ = 1;   // elements
  uint64_t points_ = 1;  // of the output, of one plane
};

// Elements are moved, so that every type keeps all its digits; zeros stand for those beside.
void eval_nearest(Eval& node, const Sampler& sampler) {
  const Tensor& input = node.tensor_in(0);
  const Shape& shape = node.shape(0);
  const MoveFrom from(input);
  MoveTo to(input.dtype(), node.out_shape(0));
  sampler.each(node.out_count(0), [&](uint64_t place, uint64_t plane, const std::vector<GridPicks>& picks) {
    uint64_t line = 0;
    for (size_t i = 0; i < picks.size(); ++i) {
      if (picks[i].elements[0] < 0) return;
      line = line * static_cast<uint64_t>(shape[i + 2]) + static_cast<uint64_t>(picks[i].elements[0]);
    }
    to.copy(from, plane + line, place);
  });
  node.set_tensor(0, to.finish());
}

void eval_grid_sample(Eval& node) {
  const Sampler sampler(node);
  if (grid_mode(node) == GridMode::nearest) return eval_nearest(node, sampler);
  const std::vector<double> input = node.load<double>(0);
  std::vector<double> out(node.out_count(0));
  sampler.each(out.size(), [&](uint64_t place, uint64_t plane, const std::vector<GridPicks>& picks) {
    out[place] = sampler.weighted(input.data() + plane, picks, 0, 0);
  });
  store_saturated(node, 0, std::move(out));
}

}  // namespace

OperatorRows operator_image_grid_sample() {
  static constexpr Operator kRows[] = {
      {.name = "GridSample",
       .since = 16,
       .traits = {Nature::sampling, {.places = {1}}},
       .infer = infer_grid_sample,
       .eval = eval_grid_sample},
  };
  return kRows;
}

}  // namespace assay::ops
