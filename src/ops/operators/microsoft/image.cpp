#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The meaning is that of the first version in ai.onnx.
const Operator& grid_sample() { return *find_operator("", "GridSample", 16); }

void infer_grid_sample(Infer& node) {
  const DType dtype = node.dtype(0);
  if (dtype != DType::undefined) node.set_dtype(0, tensor::is_floating(dtype) ? dtype : DType::float32);
  grid_sample().infer(node);
}

void eval_grid_sample(Eval& node) { grid_sample().eval(node); }

bool is_nearest(const Node& node) {
  const std::string_view mode = node.string("mode");
  if (mode != "bilinear" && mode != "nearest")
    fail(ErrorCode::shape, "attribute `mode` is `{}`, expected bilinear or nearest", mode);
  return mode == "nearest";
}

void infer_crop(Infer& node) {
  is_nearest(node);
  node.require_rank(0, 4);
  node.require_rank(1, 2);
  node.require_rank(2, 1);
  node.require_rank(3, 1);
  if (node.is_ranked(1)) unify(node.dims(1)[1], 4, "the numbers of a region and 4");
  if (node.is_ranked(3)) unify(node.dims(3)[0], 2, "the numbers of `crop_size` and 2");
  Dims dims(4);
  if (node.is_ranked(0)) dims[1] = node.dims(0)[1];
  if (node.is_ranked(1)) dims[0] = node.dims(1)[0];
  if (node.is_ranked(2)) dims[0] = unify(dims[0], node.dims(2)[0], "regions and batch indices");
  const std::optional<Elements> size = node.elements(3);
  for (size_t a = 0; a < 2 && size && size->items.size() == 2; ++a) {
    dims[a + 2] = size->items[a];
    if (dims[a + 2].is_number() && *dims[a + 2].number() < 1)
      fail(ErrorCode::shape, "`crop_size` has an entry of {}", dims[a + 2].text());
  }
  node.set_dims(0, std::move(dims));
}

// The input that an output place along one axis reads: between `low` and `high`, `rest` of the way; or nothing.
struct Sample {
  uint64_t low = 0;
  uint64_t high = 0;
  double rest = 0;
  bool is_outside = true;
};

// Places are compared with the image's borders, and rounded, as numbers of float32.
Sample sample_at(double begin, double end, int64_t index, int64_t count, int64_t length, bool is_nearest) {
  const auto last = static_cast<double>(length - 1);
  const double at =
      count > 1 ? begin * last + static_cast<double>(index) * ((end - begin) * last) / static_cast<double>(count - 1)
                : 0.5 * (begin + end) * last;
  const auto place = static_cast<double>(static_cast<float>(at));
  Sample sample;
  sample.is_outside = !(place >= 0 && place <= last);
  if (sample.is_outside) return sample;
  const double inside = std::clamp(at, 0.0, last);
  sample.low = static_cast<uint64_t>(is_nearest ? std::round(place) : std::floor(inside));
  sample.high = static_cast<uint64_t>(is_nearest ? std::round(place) : std::ceil(inside));
  sample.rest = inside - std::floor(inside);
  return sample;
}

class Cropper {
 public:
  explicit Cropper(const Eval& node)
      : is_nearest_(is_nearest(node)),
        filler_(node.floating("extrapolation_value")),
        shape_(node.shape(0)),
        out_(node.out_shape(0)),
        image_(node.load<double>(0)),
        regions_(node.load<double>(1)) {
    for (const int64_t entry : node.integers_in(2)) {
      if (entry < 0 || entry >= shape_[0])
        fail(ErrorCode::shape, "batch index {} is out of range for {} images", entry, shape_[0]);
      entries_.push_back(static_cast<uint64_t>(entry));
    }
  }

  // One line of the output.
  void line(uint64_t index, double* out) const {
    const auto rows = static_cast<uint64_t>(out_[2]);
    const auto channels = static_cast<uint64_t>(out_[1]);
    const uint64_t region = index / rows / channels;
    const uint64_t plane = entries_[region] * channels + index / rows % channels;
    const double* box = regions_.data() + region * 4;
    const double* from = image_.data() + plane * static_cast<uint64_t>(shape_[2] * shape_[3]);
    const Sample y = sample_at(box[0], box[2], static_cast<int64_t>(index % rows), out_[2], shape_[2], is_nearest_);
    for (int64_t i = 0; i < out_[3]; ++i) {
      const Sample x = sample_at(box[1], box[3], i, out_[3], shape_[3], is_nearest_);
      out[i] = y.is_outside || x.is_outside ? filler_ : between(from, y, x);
    }
  }

 private:
  double between(const double* plane, const Sample& y, const Sample& x) const {
    const auto width = static_cast<uint64_t>(shape_[3]);
    const double* upper = plane + y.low * width;
    const double* lower = plane + y.high * width;
    if (is_nearest_) return upper[x.low];
    const double above = upper[x.low] + (upper[x.high] - upper[x.low]) * x.rest;
    const double below = lower[x.low] + (lower[x.high] - lower[x.low]) * x.rest;
    return above + (below - above) * y.rest;
  }

  bool is_nearest_;
  double filler_;
  const Shape& shape_;
  Shape out_;
  std::vector<double> image_, regions_;
  std::vector<uint64_t> entries_;
};

void eval_crop(Eval& node) {
  const Cropper cropper(node);
  const auto width = static_cast<uint64_t>(node.out_shape(0)[3]);
  std::vector<double> result(node.out_count(0));
  parallel_for(result.size() / width, 16, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) cropper.line(i, result.data() + i * width);
  });
  node.store(0, std::move(result));
}

}  // namespace

OperatorRows operator_microsoft_image() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "GridSample",
       .traits = {Nature::sampling, {.places = {1}}},
       .infer = infer_grid_sample,
       .eval = eval_grid_sample},
      {.domain = kMicrosoft,
       .name = "CropAndResize",
       .traits = {Nature::sampling, {.indices = {2}, .sizes = {3}, .places = {1}}},
       .infer = infer_crop,
       .eval = eval_crop},
  };
  return kRows;
}

}  // namespace assay::ops
