#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/kernels/movement/movement.h"
#include "ops/kernels/quantization/saturate.h"
#include "ops/kernels/window/resize_plan.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The places along an axis that lie beside the original one, where tf_crop_and_resize extrapolates.
std::vector<bool> places_beside(const Node& node, const ResampledAxis& axis) {
  std::vector<bool> beside(static_cast<size_t>(axis.out));
  if (resize_coordinate_mode(node) != "tf_crop_and_resize" || is_unchanged(axis)) return beside;
  for (int64_t x = 0; x < axis.out; ++x) {
    const double place = original_place("tf_crop_and_resize", axis, x);
    beside[static_cast<size_t>(x)] = !(place >= 0 && place <= static_cast<double>(axis.in - 1));
  }
  return beside;
}

// Calls fn(place) for every element of the output that lies beside the input along any axis.
template <typename Fn>
void each_beside(const Eval& node, const std::vector<ResampledAxis>& plan, Fn fn) {
  const Shape shape = node.out_shape(0);
  const uint64_t count = node.out_count(0);
  std::vector<bool> is_beside(count);
  for (size_t i = 0; i < plan.size(); ++i) {
    const std::vector<bool> beside = places_beside(node, plan[i]);
    if (std::ranges::find(beside, true) == beside.end()) continue;
    const AxisView view = view_axis(shape, static_cast<int64_t>(i));
    for (uint64_t place = 0; place < count; ++place) {
      if (beside[place / view.inner % view.length]) is_beside[place] = true;
    }
  }
  for (uint64_t place = 0; place < count; ++place) {
    if (is_beside[place]) fn(place);
  }
}

// True if places along an axis are computed without rounding.
bool has_exact_places(const Node& node, const ResampledAxis& axis) {
  int exponent = 0;
  const bool has_corners = resize_coordinate_mode(node) == "align_corners";
  const double ratio = has_corners ? static_cast<double>(axis.in - 1) / static_cast<double>(axis.out - 1) : axis.scale;
  return std::abs(std::frexp(ratio, &exponent)) == 0.5;
}

// A place, or one that roundings may move it to in the direction of `shift`.
double place_of(const Node& node, const ResampledAxis& axis, int64_t x, double shift) {
  const std::string_view mode = resize_coordinate_mode(node);
  if (shift == 0 || has_exact_places(node, axis)) return original_place(mode, axis, x);
  const auto [least, greatest] = rounded_places(mode, axis, x);
  return shift < 0 ? least : greatest;
}

// For each axis, how far the element that each place takes lies from the first.
std::vector<std::vector<uint64_t>> nearest_offsets(const Eval& node, const std::vector<ResampledAxis>& plan) {
  std::vector<std::vector<uint64_t>> offsets(plan.size());
  uint64_t stride = 1;
  for (size_t i = plan.size(); i-- > 0;) {
    for (int64_t x = 0; x < plan[i].out; ++x) {
      const double place = place_of(node, plan[i], x, node.place_shift(i));
      const int64_t element =
          is_unchanged(plan[i]) ? x : nearest_element(resize_nearest_mode(node, plan[i].scale), place, plan[i]);
      offsets[i].push_back(static_cast<uint64_t>(element) * stride);
    }
    stride *= static_cast<uint64_t>(plan[i].in);
  }
  return offsets;
}

void eval_nearest(Eval& node, const std::vector<ResampledAxis>& plan) {
  const Tensor& input = node.tensor_in(0);
  const Shape shape = node.out_shape(0);
  const std::vector<std::vector<uint64_t>> offsets = nearest_offsets(node, plan);
  const MoveFrom from(input);
  MoveTo to(input.dtype(), shape);
  const std::vector<uint64_t>& row = offsets.back();
  parallel_for(node.out_count(0) / row.size(), 4096 / row.size() + 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; ++at) {
      uint64_t source = 0;
      uint64_t rest = at;
      for (size_t i = plan.size() - 1; i-- > 0;) {
        source += offsets[i][rest % offsets[i].size()];
        rest /= offsets[i].size();
      }
      to.gather(from, source, row, at * row.size());
    }
  });
  const double value = node.floating("extrapolation_value", 0);
  each_beside(node, plan, [&](uint64_t place) {
    to.copy(MoveFrom(make_rounded(input.dtype(), {1}, std::vector<double>{value})), 0, place);
  });
  node.set_tensor(0, to.finish());
}

// Along the last axis, whose lines have `in` elements.
std::vector<double> resample_lines(const std::vector<double>& data, uint64_t lines, uint64_t in,
                                   const ResampledTerms& terms) {
  const bool are_pairs = std::ranges::all_of(terms, [](const auto& own) { return own.size() == 2; });
  std::vector<ResampledTerm> flat;
  for (const auto& own : terms) flat.insert(flat.end(), own.begin(), own.end());
  std::vector<double> result(lines * terms.size());
  parallel_for(lines, 4096 / terms.size() + 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t line = begin; line < end; ++line) {
      const double* const source = data.data() + line * in;
      double* const sums = result.data() + line * terms.size();
      for (size_t x = 0; x < terms.size() && are_pairs; ++x) {
        const ResampledTerm* const own = flat.data() + 2 * x;
        sums[x] = (0 + own[0].weight * source[own[0].element]) + own[1].weight * source[own[1].element];
      }
      for (size_t x = 0; x < terms.size() && !are_pairs; ++x) {
        for (const ResampledTerm& term : terms[x]) sums[x] += term.weight * source[term.element];
      }
    }
  });
  return result;
}

std::vector<double> resample_axis(const std::vector<double>& data, const AxisView& from, const ResampledTerms& terms) {
  if (from.inner == 1) return resample_lines(data, from.outer, from.length, terms);
  std::vector<double> result(from.outer * terms.size() * from.inner);
  parallel_for(from.outer * terms.size(), 16, [&](uint64_t begin, uint64_t end) {
    for (uint64_t line = begin; line < end; ++line) {
      double* const sums = result.data() + line * from.inner;
      for (const ResampledTerm& term : terms[line % terms.size()]) {
        const double* const source = data.data() + from.place(line / terms.size(), term.element, 0);
        for (uint64_t i = 0; i < from.inner; ++i) sums[i] += term.weight * source[i];
      }
    }
  });
  return result;
}

void eval_filtered(Eval& node, const std::vector<ResampledAxis>& plan) {
  std::vector<double> data = node.load<double>(0);
  Shape shape = node.shape(0);
  for (const size_t i : resampling_order(plan)) {
    data = resample_axis(data, view_axis(shape, static_cast<int64_t>(i)), resize_terms(node, plan[i]));
    shape[i] = plan[i].out;
  }
  const double value = node.floating("extrapolation_value", 0);
  each_beside(node, plan, [&](uint64_t place) { data[place] = value; });
  store_saturated(node, 0, std::move(data));
}

void eval_resize(Eval& node) {
  if (node.out_count(0) == 0) {
    const DType dtype = node.tensor_in(0).dtype();
    return node.set_tensor(0, MoveTo(dtype, node.out_shape(0)).finish());
  }
  const std::vector<ResampledAxis> plan = plan_resize(node);
  if (resize_mode(node) == ResizeMode::nearest) return eval_nearest(node, plan);
  eval_filtered(node, plan);
}

// Weighted sums along one axis after the other; where an axis gets shorter, antialias takes all of its elements.
Dim work_of_resize(const Infer& node) {
  const std::optional<Dims>& result = node.output(0).type.dims;
  if (resize_mode(node) == ResizeMode::nearest || !node.is_ranked(0) || !result) return 0;
  const std::optional<Shape> in = numbers(node.dims(0));
  const std::optional<Shape> out = numbers(*result);
  if (!in || !out) return {};
  if (std::ranges::find(*out, 0) != out->end()) return 0;
  std::vector<ResampledAxis> plan;
  for (size_t i = 0; i < in->size(); ++i) plan.push_back({(*in)[i], (*out)[i]});
  Shape shape = *in;
  Dim total = 0;
  for (const size_t i : resampling_order(plan)) {
    shape[i] = plan[i].out;
    const int64_t taps = resize_mode(node) == ResizeMode::cubic ? 4 : 2;
    const Dim stretch = node.flag("antialias") ? ceil_div(Dim(plan[i].in), plan[i].out) : Dim(1);
    total = total + product(dims_of(shape)) * Dim(taps) * stretch;
  }
  return total;
}

}  // namespace

OperatorRows operator_image_resize() {
  static constexpr Operator kRows[] = {
      {.name = "Resize",
       .since = 10,
       .traits = {Nature::sampling, {.sizes = {2, 3}, .places = {1}}},
       .infer = infer_resize,
       .eval = eval_resize,
       .work = work_of_resize},
      {.name = "Upsample",
       .traits = {Nature::sampling, {.range = ValueRange::first, .sizes = {1}}},
       .infer = infer_resize,
       .eval = eval_resize,
       .work = work_of_resize},
  };
  return kRows;
}

}  // namespace assay::ops
