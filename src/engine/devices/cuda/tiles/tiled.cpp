#include "engine/devices/cuda/tiles/tiled.h"

#include <limits>

#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/tiles/tile_shapes.h"

namespace assay::engine::cuda {
namespace {

// The name of a shape among the variants: `128x64/2`, with the parts of the depth; `tf32x3:128x64/2`.
std::string name_of(const TileShape& shape) {
  const std::string_view products = shape.is_long              ? "turns:"
                                    : shape.is_streamed        ? "streams:"
                                    : shape.tf32_products == 0 ? ""
                                    : shape.tf32_products == 1 ? "tf32:"
                                                               : "tf32x3:";
  return fmt::format("{}{}x{}/{}", products, shape.rows, shape.columns, shape.splits);
}

// Three products err by 2^-22 each: sums of many are off by more than that anyway.
FloatProducts permitted(const Layer& layer, const TileProduct& product) {
  constexpr int64_t kDeep = 64;
  if (layer.permits_tf32) return FloatProducts::tf32;
  return layer.is_strict || product.codes || product.depth < kDeep ? FloatProducts::exact : FloatProducts::nearly_exact;
}

// Pixels of a line within which each window has its row.
int64_t spread_width(const ConvGeometry& g) { return (g.out_width - 1) * g.stride_x + g.kernel_width; }

// Lets pixels of the product's picture be `wide`, and a window's row one pixel of all its elements.
void spread(const ConvGeometry& g, int64_t wide, TileProduct& product) {
  product.spread = {product.left.pointer, g.batch * g.height, g.width, g.channels, g.pad_left, spread_width(g)};
  product.depth = g.kernel_height * g.kernel_width * wide;
  product.pixel = wide;
  product.left.items = {0};
  ConvGeometry& lines = *product.windows;
  lines.channels = g.kernel_width * wide;
  lines.width = spread_width(g);
  lines.kernel_width = 1;
  lines.pad_left = lines.pad_right = 0;
}

// Channels of pixels that are made longer, so that they lie in packs; 0: they are not, since they do already, or since
// lines would not hold what a window sees in a row.
int64_t spread_channels(const ConvGeometry& g, tensor::DType dtype) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const int64_t wide = padded_depth(g.channels, dtype);
  const bool is_worthwhile =
      g.groups == 1 && g.dilation_x == 1 && wide != g.channels && g.kernel_height * g.kernel_width > 1;
  const int64_t elements = g.batch * g.height * spread_width(g) * wide;
  return is_worthwhile && tensor::is_floating(dtype) && elements <= kMost ? wide : 0;
}

void set_filters(const Layer& layer, const ConvolutionForm& form, bool packs, TileProduct& product) {
  const ConvGeometry& g = form.geometry;
  const int64_t channels = g.channels / g.groups, taps = g.kernel_height * g.kernel_width, wide = product.depth / taps;
  const int64_t stride = padded_depth(product.depth, form.weights->dtype());
  product.right = {{}, stride, 1, {product.columns * stride}};
  if (!packs) return;
  const auto at = [&](const WeightPlace& place) {
    const int64_t channel = place.depth % wide;
    return channel < channels ? (place.column * channels + channel) * taps + place.depth / wide : -1;
  };
  const std::string name = fmt::format("filters/{}", wide);
  product.constants.push_back(ColumnPacker(layer, *form.weights).pack(g.out_channels, product.depth, name, at));
  product.right.pointer = fixed_pointer(product.constants.back().first);
}

// True for a window of one pixel that sees each of the picture once: a product of matrices.
bool is_pointwise(const ConvGeometry& g) {
  return g.kernel_height * g.kernel_width == 1 && g.groups == 1 && g.stride_y == 1 && g.stride_x == 1 &&
         g.out_height == g.height && g.out_width == g.width && g.pad_top == 0 && g.pad_left == 0;
}

}  // namespace

int64_t padded_depth(int64_t depth, tensor::DType dtype) {
  const int64_t pack = 128 / tensor::bit_width(dtype);
  return (depth + pack - 1) / pack * pack;
}

void set_right(const Layer& layer, const tensor::Tensor& weights, const ProductGeometry& g, bool packs,
               TileProduct& product) {
  const int64_t stride = padded_depth(g.depth, weights.dtype());
  product.right = {{}, stride, 1, std::vector<int64_t>(product.items.size(), 0)};
  if (!packs) return;
  const auto at = [&](const WeightPlace& place) { return place.depth * g.right_row + place.column * g.right_column; };
  const std::string form = fmt::format("columns/{}x{}", g.right_row, g.right_column);
  product.constants.push_back(ColumnPacker(layer, weights).pack(g.columns, g.depth, form, at));
  product.right.pointer = fixed_pointer(product.constants.back().first);
}

std::optional<TileProduct> window_product(const Layer& layer, const ConvolutionForm& form, bool packs) {
  const ConvGeometry& g = form.geometry;
  const TensorDesc& data = layer.inputs[static_cast<size_t>(form.data)];
  const bool lies_well = has_layout(data, Layout::channels_last) && has_channels_last_order(layer.outputs[0]);
  if (g.is_transposed || !lies_well) return std::nullopt;
  TileProduct product{.type = data.dtype,
                      .rows = g.batch * g.out_height * g.out_width,
                      .columns = g.out_channels / g.groups,
                      .depth = g.kernel_height * g.kernel_width * (g.channels / g.groups),
                      .items = {g.groups},
                      .left = {input_pointer(static_cast<size_t>(form.data)), 0, 1, {g.channels / g.groups}},
                      .windows = g,
                      .pixel = g.channels};
  if (const int64_t wide = spread_channels(g, data.dtype); wide != 0) spread(g, wide, product);
  set_filters(layer, form, packs, product);
  if (is_pointwise(g)) {
    product.windows.reset();
    product.left = {input_pointer(static_cast<size_t>(form.data)), product.pixel, 1, {0}};
  }
  return product;
}

std::vector<std::string> Tiled::variants(const Layer& layer) const {
  std::vector<std::string> names;
  const std::optional<Found> found = find(layer, false);
  if (!found) return names;
  for (const TileShape& shape : tile_shapes(found->product, permitted(layer, found->product), programs().card())) {
    if (names.size() < kMostShapes) names.push_back(name_of(shape));
  }
  return names;
}

std::unique_ptr<Kernel> Tiled::make(const Layer& layer, std::string_view variant) const {
  std::optional<Found> found = find(layer, true);
  if (!found) return {};
  for (const TileShape& shape : tile_shapes(found->product, permitted(layer, found->product), programs().card())) {
    if (!variant.empty() && name_of(shape) != variant) continue;
    std::optional<Launches> launches = tile_launches(programs(), found->product, shape, std::move(found->site));
    return launches ? make_kernel(std::move(*launches)) : nullptr;
  }
  return {};
}

}  // namespace assay::engine::cuda
