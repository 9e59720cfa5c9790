#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/kernels/movement/movement.h"
#include "ops/kernels/quantization/saturate.h"
#include "ops/kernels/window/resampling.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

enum class Mode : uint8_t { nearest, linear, cubic };
enum class Padding : uint8_t { zeros, border, reflection };

// Version 16 has other words.
Mode mode_of(const Node& node) {
  const std::string_view word = node.string("mode");
  const bool is_old = node.version() < 20;
  if (word == "nearest") return Mode::nearest;
  if (word == (is_old ? "bilinear" : "linear")) return Mode::linear;
  if (word == (is_old ? "bicubic" : "cubic")) return Mode::cubic;
  fail(ErrorCode::shape, "attribute `mode` is `{}`, expected nearest, {}linear or {}cubic", word, is_old ? "bi" : "",
       is_old ? "bi" : "");
}

Padding padding_of(const Node& node) {
  const std::string_view word = node.string("padding_mode");
  if (word == "zeros") return Padding::zeros;
  if (word == "border") return Padding::border;
  if (word == "reflection") return Padding::reflection;
  fail(ErrorCode::shape, "attribute `padding_mode` is `{}`, expected zeros, border or reflection", word);
}

void infer_grid_sample(Infer& node) {
  mode_of(node);
  padding_of(node);
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

// One spatial axis and what to do beside it.
struct Axis {
  int64_t length;
  Padding padding;
  bool aligns_corners;

  double low() const { return aligns_corners ? 0 : -0.5; }
  double high() const { return static_cast<double>(length) - (aligns_corners ? 1 : 0.5); }

  // From the grid's -1 to 1 to elements; what is no number lies far out.
  double place(double normalized) const {
    const auto size = static_cast<double>(length);
    const double at = aligns_corners ? (normalized + 1) / 2 * (size - 1) : ((normalized + 1) * size - 1) / 2;
    return std::isnan(at) ? -1e9 : std::clamp(at, -1e9, 1e9);
  }
  double reflected(double at) const {
    const double range = high() - low();
    if (range <= 0) return 0;
    const double beyond = at < low() ? low() - at : at - high();
    const double turns = std::floor(beyond / range);
    const double rest = beyond - turns * range;
    const bool from_same_side = std::fmod(turns, 2) == 0;
    return (at < low()) == from_same_side ? low() + rest : high() - rest;
  }
  // The place as the padding moves it before elements are chosen.
  double moved(double at) const {
    if (at >= low() && at <= high()) return at;
    if (padding == Padding::border) return std::clamp(at, 0.0, static_cast<double>(std::max<int64_t>(length - 1, 0)));
    return padding == Padding::reflection ? reflected(at) : at;
  }
  // The element that stands for index `i`; -1: a zero.
  int64_t element(double i) const {
    if (length == 0) return -1;
    const bool is_inside = i >= 0 && i < static_cast<double>(length);
    if (is_inside) return static_cast<int64_t>(i);
    if (padding == Padding::zeros) return -1;
    const double other = padding == Padding::reflection && (i < low() || i > high()) ? reflected(i) : i;
    return static_cast<int64_t>(std::clamp(other, 0.0, static_cast<double>(length - 1)));
  }
};

// The elements along one axis that count for a place, with their weights.
struct Picks {
  int64_t elements[4];
  double weights[4];
  int count;

  Picks(Mode mode, const Axis& axis, double normalized) {
    const double at = axis.place(normalized);
    if (mode == Mode::nearest) {
      count = 1;
      elements[0] = axis.element(axis.moved(std::nearbyint(at)));
      weights[0] = 1;
      return;
    }
    const Taps taps = taps_at({.is_cubic = mode == Mode::cubic}, axis.moved(at), {});
    count = static_cast<int>(taps.weights.size());
    for (int i = 0; i < count; ++i) {
      elements[i] = axis.element(static_cast<double>(taps.first + i));
      weights[i] = taps.weights[static_cast<size_t>(i)];
    }
  }
};

class Sampler {
 public:
  explicit Sampler(const Eval& node) : mode_(mode_of(node)), grid_(node.load<double>(1)) {
    const Shape& shape = node.shape(0);
    for (size_t i = 2; i < shape.size(); ++i) axes_.push_back({shape[i], padding_of(node), node.flag("align_corners")});
    for (const Axis& axis : axes_) plane_ *= static_cast<uint64_t>(axis.length);
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
        std::vector<Picks> picks;  // the grid names the last axis first
        for (size_t i = 0; i < axes_.size(); ++i) {
          picks.emplace_back(mode_, axes_[i], grid_[(at + 1) * axes_.size() - 1 - i]);
        }
        const uint64_t plane = at / points_ * channels_;
        for (uint64_t c = 0; c < channels_; ++c) {
          fn((plane + c) * points_ + at % points_, (plane + c) * plane_, picks);
        }
      }
    });
  }

  double weighted(const double* data, const std::vector<Picks>& picks, size_t axis, uint64_t line) const {
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
  Mode mode_;
  std::vector<double> grid_;
  std::vector<Axis> axes_;
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
  sampler.each(node.out_count(0), [&](uint64_t place, uint64_t plane, const std::vector<Picks>& picks) {
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
  if (mode_of(node) == Mode::nearest) return eval_nearest(node, sampler);
  const std::vector<double> input = node.load<double>(0);
  std::vector<double> out(node.out_count(0));
  sampler.each(out.size(), [&](uint64_t place, uint64_t plane, const std::vector<Picks>& picks) {
    out[place] = sampler.weighted(input.data() + plane, picks, 0, 0);
  });
  store_saturated(node, 0, std::move(out));
}

}  // namespace

OperatorRows operator_image_grid_sample() {
  static constexpr Operator kRows[] = {
      {.name = "GridSample", .since = 16, .infer = infer_grid_sample, .eval = eval_grid_sample},
  };
  return kRows;
}

}  // namespace assay::ops
