#include "engine/layers/pool.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "engine/layers/conv_geometry.h"

namespace assay::engine {
namespace {

// The padding before the first element if it follows from the sizes.
int64_t padding_before(std::string_view auto_pad, int64_t in, int64_t out, int64_t kernel, int64_t stride,
                       int64_t dilation) {
  if (auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER") return 0;
  return first_of_padding(auto_pad, std::max<int64_t>(0, padding_for(in, out, kernel, stride, dilation)));
}

void set_padding(const ops::Node& facts, const std::vector<int64_t>& pads, PoolForm& g) {
  const std::string_view auto_pad = facts.string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET") {
    g.pad_top = padding_before(auto_pad, g.height, g.out_height, g.kernel_height, g.stride_y, g.dilation_y);
    g.pad_left = padding_before(auto_pad, g.width, g.out_width, g.kernel_width, g.stride_x, g.dilation_x);
  } else if (!pads.empty()) {
    std::tie(g.pad_top, g.pad_left) = std::pair(pads[0], pads[1]);
  }
}

// Far more work than elements is left to the reference, which counts it.
bool takes_too_long(const PoolForm& g, const TensorDesc& out) {
  constexpr double kMostSteps = 1e11;
  const double window = static_cast<double>(g.kernel_height) * static_cast<double>(g.kernel_width);
  return static_cast<double>(out.count()) * window > kMostSteps;
}

}  // namespace

bool gives_places(const Layer& layer) {
  return layer.is_single() && layer.starts_with("MaxPool") && layer.outputs.size() > 1 && layer.outputs[1].exists();
}

std::optional<PoolForm> find_pool(const Layer& layer) {
  constexpr std::array<std::string_view, 3> kPools = {"MaxPool", "AveragePool", "GlobalMaxPool"};
  const bool is_pool = std::ranges::any_of(kPools, [&](std::string_view op) { return layer.starts_with(op); });
  const size_t rank = is_pool ? layer.inputs[0].dims.size() : 0;
  if (!layer.is_single() || (rank != 3 && rank != 4) || !layer.outputs[0].exists()) return std::nullopt;
  const tensor::Shape& in = layer.inputs[0].dims;
  const tensor::Shape& out = layer.outputs[0].dims;
  const bool is_flat = in.size() == 3;  // a picture of one row
  PoolForm g{.batch = in[0],
             .channels = in[1],
             .height = is_flat ? 1 : in[2],
             .width = in.back(),
             .out_height = is_flat ? 1 : out[2],
             .out_width = out.back()};
  g.stride_y = g.stride_x = g.dilation_y = g.dilation_x = 1;
  g.is_maximum = layer.starts_with("MaxPool") || layer.starts_with("GlobalMaxPool");
  if (layer.starts_with("GlobalMaxPool")) {
    g.kernel_height = g.height;
    g.kernel_width = g.width;
    return g;
  }
  const ops::Node facts = layer.facts(layer.nodes[0]);
  g.gives_places = gives_places(layer);
  g.is_column_major = facts.integer("storage_order", 0) != 0;
  const auto numbers = [&](const char* name, int64_t of_flat) {
    std::vector<int64_t> written = facts.integers(name);
    if (is_flat && !written.empty()) written.insert(written.begin(), of_flat);
    return written;
  };
  const std::vector<int64_t> kernel = numbers("kernel_shape", 1);
  const std::vector<int64_t> strides = numbers("strides", 1);
  const std::vector<int64_t> dilations = numbers("dilations", 1);
  if (kernel.size() != 2) return std::nullopt;
  std::tie(g.kernel_height, g.kernel_width) = std::pair(kernel[0], kernel[1]);
  if (!strides.empty()) std::tie(g.stride_y, g.stride_x) = std::pair(strides[0], strides[1]);
  if (!dilations.empty()) std::tie(g.dilation_y, g.dilation_x) = std::pair(dilations[0], dilations[1]);
  set_padding(facts, numbers("pads", 0), g);
  g.counts_padding = !g.is_maximum && facts.integer("count_include_pad", 0) != 0;
  // Windows that reach beyond the padding count what is there only, which needs care of its own.
  const bool reaches_beyond = facts.integer("ceil_mode", 0) != 0 && g.counts_padding;
  return reaches_beyond || takes_too_long(g, layer.outputs[0]) ? std::nullopt : std::optional(g);
}

}  // namespace assay::engine
