#include "ops/kernels/movement/padding.h"

#include <algorithm>

#include "ops/operator.h"

namespace assay::ops {
namespace {

bool is_microsofts_pad(const Node& node) { return node.schema() && node.schema()->domain == kMicrosoft; }

// The source of the element at `at`, counted from the first one of the input, in an axis of `dim` elements.
int64_t padding_source(int64_t at, int64_t dim, PadMode mode) {
  if (at >= 0 && at < dim) return at;
  if (mode == PadMode::constant) return kNowhere;
  if (mode == PadMode::edge) return std::clamp<int64_t>(at, 0, dim - 1);
  const int64_t period = mode == PadMode::wrap ? dim : std::max<int64_t>(2 * (dim - 1), 1);
  const int64_t place = ((at % period) + period) % period;
  return place < dim ? place : period - place;
}

// Negative pads cut first: what is left is what reflect, edge and wrap repeat.
AxisMap pad_map(int64_t dim, int64_t before, int64_t after, PadMode mode) {
  const int64_t cut_front = std::min<int64_t>(std::max<int64_t>(-before, 0), dim);
  const int64_t cut_back = std::min<int64_t>(std::max<int64_t>(-after, 0), dim - cut_front);
  const int64_t kept = dim - cut_front - cut_back;
  const int64_t length = dim + before + after;
  const bool is_constant = mode == PadMode::constant;
  AxisMap map(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    if (is_constant) {
      map[static_cast<size_t>(i)] = padding_source(i - before, dim, mode);
    } else if (kept == 0) {
      fail(ErrorCode::shape, "negative pads leave nothing of an axis of {} that could be repeated", dim);
    } else {
      map[static_cast<size_t>(i)] = cut_front + padding_source(i - std::max<int64_t>(before, 0), kept, mode);
    }
  }
  return map;
}

}  // namespace

PadMode pad_mode(const Node& node) {
  const bool has_wrap = is_microsofts_pad(node) || node.version() >= 19;
  const std::string_view name = node.string("mode");
  if (name == "constant") return PadMode::constant;
  if (name == "reflect") return PadMode::reflect;
  if (name == "edge") return PadMode::edge;
  if (name == "wrap" && has_wrap) return PadMode::wrap;
  fail(ErrorCode::shape, "there is no mode `{}` in version {}", name, node.version());
}

PadArguments pad_arguments(const Node& node) {
  if (is_microsofts_pad(node)) return {{"pads", 1, 0}, false};
  const int64_t version = node.version();
  return {{version == 1 ? "paddings" : "pads", 1, 11}, version >= 18};
}

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

std::vector<AxisMap> pad_maps(const tensor::Shape& from, std::span<const size_t> axes, std::span<const int64_t> pads,
                              PadMode mode) {
  std::vector<AxisMap> maps(from.size());
  for (size_t a = 0; a < maps.size(); ++a) maps[a] = pad_map(from[a], 0, 0, PadMode::constant);
  for (size_t i = 0; i < axes.size(); ++i) {
    maps[axes[i]] = pad_map(from[axes[i]], pads[i], pads[axes.size() + i], mode);
  }
  return maps;
}

}  // namespace assay::ops
