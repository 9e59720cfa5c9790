#include "ops/kernels/window/resize_plan.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace assay::ops {
namespace {

void check_scales(const Node& node, const std::vector<double>& scales, size_t axes) {
  if (scales.size() != axes) fail(ErrorCode::shape, "{} scales are given for {} axes", scales.size(), axes);
  const double least = is_upsample(node) ? 1 : 0;
  for (const double scale : scales) {
    const bool fits = std::isfinite(scale) && scale >= least && scale != 0;
    if (!fits) fail(ErrorCode::shape, "a scale of {} is not possible", scale);
  }
}

// The length of a scaled axis, rounded as float32 is, so that 0.7 * 10 is 7; it decides what shape the result has.
// Before a run it stays open where onnx, which does not round, says another number: a model must not contradict its
// checker.
Dim scaled(const Dim& in, double scale, bool is_run) {
  if (scale == 1) return in;
  const bool is_whole = std::trunc(scale) == scale && scale < 0x1p31;
  if (!in.is_number()) return is_whole ? in * Dim(static_cast<int64_t>(scale)) : Dim();
  const float length = std::floor(static_cast<float>(*in.number()) * static_cast<float>(scale));
  if (!is_run && length != std::floor(static_cast<double>(*in.number()) * scale)) return {};
  if (length >= 0x1p62F) fail(ErrorCode::shape, "an axis of {} cannot be scaled by {}", in.text(), scale);
  return static_cast<int64_t>(length);
}

int64_t round_half_up(double value) {
  if (!(value < 0x1p62)) fail(ErrorCode::shape, "an axis cannot have length {}", value);
  return static_cast<int64_t>(std::floor(value + 0.5));
}

Dims sized_dims(const Infer& node, const Elements& sizes, const std::vector<int64_t>& axes) {
  if (sizes.items.size() != axes.size()) {
    fail(ErrorCode::shape, "{} sizes are given for {} axes", sizes.items.size(), axes.size());
  }
  Dims out = node.dims(0);
  for (size_t i = 0; i < axes.size(); ++i) out[static_cast<size_t>(axes[i])] = sizes.items[i];
  const std::string_view policy = resize_aspect_policy(node);
  if (policy == "stretch") return out;
  const std::optional<std::vector<int64_t>> wanted = numbers(sizes.items);
  Dims own;
  for (const int64_t axis : axes) own.push_back(node.dims(0)[static_cast<size_t>(axis)]);
  const std::optional<std::vector<int64_t>> lengths = numbers(own);
  for (const int64_t axis : axes) out[static_cast<size_t>(axis)] = Dim();
  if (!wanted || !lengths || std::ranges::find(*lengths, 0) != lengths->end()) return out;
  const double scale = common_scale(policy, *wanted, *lengths);
  for (size_t i = 0; i < axes.size(); ++i) {
    out[static_cast<size_t>(axes[i])] = round_half_up(scale * static_cast<double>((*lengths)[i]));
  }
  return out;
}

Dims scaled_dims(const Infer& node, const std::vector<double>& scales, const std::vector<int64_t>& axes) {
  check_scales(node, scales, axes.size());
  Dims out = node.dims(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = out[static_cast<size_t>(axes[i])];
    dim = scaled(dim, scales[i], node.constant(0) != nullptr);
  }
  return out;
}

// True if an input is there and not an empty list; nullopt: not known.
std::optional<bool> is_given(const Infer& node, uint32_t input) {
  if (!node.has(input)) return false;
  node.require_rank(input, 1);
  if (!node.is_ranked(input) || !node.dims(input)[0].is_number()) return std::nullopt;
  return !node.dims(input)[0].is(0);
}

void check_words(const Infer& node) {
  const ResizeMode mode = resize_mode(node);
  resize_coordinate_mode(node);
  resize_nearest_mode(node, 1);
  resize_aspect_policy(node);
  if (mode == ResizeMode::nearest && node.flag("antialias")) fail(ErrorCode::shape, "mode nearest has no antialias");
}

void check_roi(const Infer& node, const ResizeInputs& places, size_t axes) {
  if (resize_coordinate_mode(node) != "tf_crop_and_resize") return;
  if (is_given(node, places.roi) == false) fail(ErrorCode::shape, "tf_crop_and_resize needs the input `roi`");
  if (node.is_ranked(places.roi)) {
    unify(node.dims(places.roi)[0], static_cast<int64_t>(2 * axes), "the length of `roi` and twice the number of axes");
  }
}

}  // namespace

void infer_resize(Infer& node) {
  check_words(node);
  if (!node.is_ranked(0)) return;
  const ResizeInputs places = resize_inputs(node);
  const std::vector<int64_t> axes = resized_axes(node, node.rank(0));
  check_roi(node, places, axes.size());
  if (places.scales == ResizeInputs::kNone) return node.set_dims(0, scaled_dims(node, written_scales(node), axes));
  const std::optional<bool> has_scales = is_given(node, places.scales);
  const std::optional<bool> has_sizes = is_given(node, places.sizes);
  if (has_scales == has_sizes && has_scales) {
    fail(ErrorCode::shape, "one of scales and sizes must be given, {} is", *has_sizes ? "both" : "none");
  }
  Dims out(node.dims(0).size());
  if (has_sizes == true) {
    if (const std::optional<Elements> sizes = node.elements(places.sizes)) out = sized_dims(node, *sizes, axes);
  } else if (has_scales == true) {
    if (const Tensor* scales = node.constant(places.scales)) {
      out = scaled_dims(node, load_elements<double>(*scales), axes);
    }
  }
  const std::optional<std::vector<int64_t>> in = numbers(node.dims(0));
  for (size_t i = 0; in && i < out.size(); ++i) {
    const bool grows = (*in)[i] == 0 && out[i].is_number() && !out[i].is(0);
    if (grows) fail(ErrorCode::shape, "an axis of 0 cannot be resized to {}", out[i].text());
  }
  node.set_dims(0, std::move(out));
}

std::vector<ResampledAxis> plan_resize(const Eval& node) {
  return plan_resize(node, node.shape(0), node.out_shape(0), [&](uint32_t input) {
    return node.has(input) ? node.load<double>(input) : std::vector<double>();
  });
}

std::vector<ResampledAxis> plan_resize(const Node& node, const Shape& in, const Shape& out,
                                       FunctionRef<std::vector<double>(uint32_t input)> numbers) {
  const ResizeInputs places = resize_inputs(node);
  std::vector<ResampledAxis> plan(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    plan[i] = {in[i], out[i], static_cast<double>(out[i]) / static_cast<double>(in[i])};
  }
  const std::vector<int64_t> axes = resized_axes(node, static_cast<int64_t>(in.size()));
  const auto at = [&](size_t i) -> ResampledAxis& { return plan[static_cast<size_t>(axes[i])]; };
  const std::vector<double> sizes = places.sizes == ResizeInputs::kNone ? std::vector<double>() : numbers(places.sizes);
  if (sizes.empty()) {
    const std::vector<double> scales =
        places.scales == ResizeInputs::kNone ? written_scales(node) : numbers(places.scales);
    for (size_t i = 0; i < axes.size(); ++i) at(i).scale = scales[i];
  } else if (resize_aspect_policy(node) != "stretch") {
    std::vector<int64_t> lengths;
    for (size_t i = 0; i < axes.size(); ++i) lengths.push_back(at(i).in);
    const std::vector<int64_t> wanted(sizes.begin(), sizes.end());
    const double scale = common_scale(resize_aspect_policy(node), wanted, lengths);
    for (size_t i = 0; i < axes.size(); ++i) at(i).scale = scale;
  }
  if (resize_coordinate_mode(node) == "tf_crop_and_resize") {
    const std::vector<double> roi = numbers(places.roi);
    for (size_t i = 0; i < axes.size(); ++i) {
      at(i).roi_start = roi[i];
      at(i).roi_end = roi[i + axes.size()];
    }
  }
  return plan;
}

ResampledTerms resize_terms(const Node& node, const ResampledAxis& axis) {
  const Filter filter{resize_mode(node) == ResizeMode::cubic, node.floating("cubic_coeff_a", -0.75),
                      node.flag("antialias"), node.flag("exclude_outside")};
  ResampledTerms terms(static_cast<size_t>(axis.out));
  for (int64_t x = 0; x < axis.out; ++x) {
    const Taps taps = taps_at(filter, original_place(resize_coordinate_mode(node), axis, x), axis);
    for (size_t k = 0; k < taps.weights.size(); ++k) {
      const int64_t element = std::clamp<int64_t>(taps.first + static_cast<int64_t>(k), 0, axis.in - 1);
      if (taps.weights[k] == 0) continue;
      terms[static_cast<size_t>(x)].push_back({static_cast<uint64_t>(element), taps.weights[k]});
    }
  }
  return terms;
}

bool is_unchanged(const ResampledAxis& axis) {
  return axis.in == axis.out && axis.scale == 1 && axis.roi_start == 0 && axis.roi_end == 1;
}

std::vector<size_t> resampling_order(std::span<const ResampledAxis> plan) {
  std::vector<size_t> order;
  for (const bool grows : {false, true}) {
    for (size_t i = 0; i < plan.size(); ++i) {
      if (!is_unchanged(plan[i]) && (plan[i].out > plan[i].in) == grows) order.push_back(i);
    }
  }
  return order;
}

}  // namespace assay::ops
