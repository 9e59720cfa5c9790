#include <algorithm>

#include "ops/evaluate.h"
#include "ops/kernels/elements/list_argument.h"
#include "ops/kernels/movement/movement.h"
#include "ops/kernels/movement/places.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

enum class Mode : uint8_t { constant, reflect, edge, wrap };

Mode mode_of(const Node& node, bool has_wrap) {
  const std::string_view name = node.string("mode");
  if (name == "constant") return Mode::constant;
  if (name == "reflect") return Mode::reflect;
  if (name == "edge") return Mode::edge;
  if (name == "wrap" && has_wrap) return Mode::wrap;
  fail(ErrorCode::shape, "there is no mode `{}` in version {}", name, node.version());
}

// Where pads and axes are given: version 1 calls the attribute `paddings`, axes came with version 18.
struct PadArguments {
  ListArgument pads;
  bool has_axes = false;
  bool has_wrap = false;
};

PadArguments arguments_of(const Node& node) {
  if (node.schema() && node.schema()->domain == kMicrosoft) return {{"pads", 1, 0}, false, true};
  const int64_t version = node.version();
  return {{version == 1 ? "paddings" : "pads", 1, 11}, version >= 18, version >= 19};
}

// First elements of the padded axes, then those behind: pads as they are given.
struct Padding {
  std::vector<size_t> axes;
  Dims pads;
};

std::vector<size_t> padded_axes(std::optional<std::vector<int64_t>> given, size_t rank) {
  std::vector<size_t> axes;
  if (given) {
    for (const int64_t axis : normalize_axes(std::move(*given), static_cast<int64_t>(rank))) {
      axes.push_back(static_cast<size_t>(axis));
    }
    return axes;
  }
  for (size_t a = 0; a < rank; ++a) axes.push_back(a);
  return axes;
}

void check_pads(const Padding& padding, const Dims& dims, Mode mode) {
  const size_t count = padding.axes.size();
  for (size_t i = 0; i < count && mode != Mode::constant; ++i) {
    const Dim& dim = dims[padding.axes[i]];
    const Dim total = dim + padding.pads[i] + padding.pads[count + i];
    const bool is_empty = dim.is(0) && total.is_number() && *total.number() > 0;
    if (is_empty)
      fail(ErrorCode::shape, "axis {} of shape {} is empty, nothing can be repeated", padding.axes[i], text(dims));
  }
}

void infer_pad(Infer& node) {
  const PadArguments arguments = arguments_of(node);
  const Mode mode = mode_of(node, arguments.has_wrap);
  if (node.has(2) && node.is_ranked(2) && product(node.dims(2)).is_number() && !product(node.dims(2)).is(1)) {
    fail(ErrorCode::shape, "the padding value must be one element, its shape is {}", text(node.dims(2)));
  }
  const std::optional<Dims> pads = known_list(node, arguments.pads);
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  const bool has_axes = arguments.has_axes && node.has(3);
  std::optional<std::vector<int64_t>> given;
  if (has_axes) given = known_numbers(node, {"axes", 3, 0});
  if (!pads || (has_axes && !given)) return node.set_dims(0, Dims(dims.size()));
  const Padding padding{padded_axes(given, dims.size()), *pads};
  const size_t count = padding.axes.size();
  if (pads->size() != 2 * count) {
    fail(ErrorCode::shape, "{} pads are given for {} axes, the input has shape {}", pads->size(), count, text(dims));
  }
  check_pads(padding, dims, mode);
  for (size_t i = 0; i < count; ++i) {
    dims[padding.axes[i]] = dims[padding.axes[i]] + padding.pads[i] + padding.pads[count + i];
  }
  node.set_dims(0, std::move(dims));
}

// The source of the element at `at`, counted from the first one of the input, in an axis of `dim` elements.
int64_t source_of(int64_t at, int64_t dim, Mode mode) {
  if (at >= 0 && at < dim) return at;
  if (mode == Mode::constant) return kNowhere;
  if (mode == Mode::edge) return std::clamp<int64_t>(at, 0, dim - 1);
  const int64_t period = mode == Mode::wrap ? dim : std::max<int64_t>(2 * (dim - 1), 1);
  const int64_t place = ((at % period) + period) % period;
  return place < dim ? place : period - place;
}

// Negative pads cut first: what is left is what reflect, edge and wrap repeat.
AxisMap map_of(int64_t dim, int64_t before, int64_t after, Mode mode) {
  const int64_t cut_front = std::min<int64_t>(std::max<int64_t>(-before, 0), dim);
  const int64_t cut_back = std::min<int64_t>(std::max<int64_t>(-after, 0), dim - cut_front);
  const int64_t kept = dim - cut_front - cut_back;
  const int64_t length = dim + before + after;
  const bool is_constant = mode == Mode::constant;
  AxisMap map(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    if (is_constant) {
      map[static_cast<size_t>(i)] = source_of(i - before, dim, mode);
    } else if (kept == 0) {
      fail(ErrorCode::shape, "negative pads leave nothing of an axis of {} that could be repeated", dim);
    } else {
      map[static_cast<size_t>(i)] = cut_front + source_of(i - std::max<int64_t>(before, 0), kept, mode);
    }
  }
  return map;
}

Tensor filler_of(const Eval& node, const PadArguments& arguments) {
  if (node.version() < arguments.pads.since) {
    return make_rounded(node.stored(node.out_dtype(0)), {}, std::vector<double>{node.floating("value")});
  }
  return node.has(2) ? node.tensor_in(2) : Tensor();
}

void eval_pad(Eval& node) {
  if (node.out_count(0) == 0) return node.set_tensor(0, MoveTo(node.tensor_in(0).dtype(), node.out_shape(0)).finish());
  const PadArguments arguments = arguments_of(node);
  const Mode mode = mode_of(node, arguments.has_wrap);
  const Shape& from = node.shape(0);
  const std::vector<int64_t> pads = list_of(node, arguments.pads);
  std::optional<std::vector<int64_t>> given;
  if (arguments.has_axes && node.has(3)) given = node.integers_in(3);
  const std::vector<size_t> axes = padded_axes(given, from.size());
  std::vector<AxisMap> maps(from.size());
  for (size_t a = 0; a < maps.size(); ++a) maps[a] = map_of(from[a], 0, 0, Mode::constant);
  for (size_t i = 0; i < axes.size(); ++i) {
    maps[axes[i]] = map_of(from[axes[i]], pads[i], pads[axes.size() + i], mode);
  }
  const Tensor filler = filler_of(node, arguments);
  node.set_tensor(0, move_by_maps(node.tensor_in(0), maps, filler.count() == 1 ? &filler : nullptr));
}

}  // namespace

OperatorRows operator_movement_pad() {
  static constexpr Operator kRows[] = {
      {.name = "Pad", .infer = infer_pad, .eval = eval_pad},
      {.domain = kMicrosoft, .name = "Pad", .infer = infer_pad, .eval = eval_pad},
  };
  return kRows;
}

}  // namespace assay::ops
