#include "engine/devices/cuda/tiles/tiled.h"

#include <limits>

#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/tiles/tile_shapes.h"

namespace assay::engine::cuda {
namespace {

// The name of a shape among the variants: `128x64/2`, with the parts of the depth; `tf32x3:128x64/2`.
std::string name_of(const TileShape& shape) {
  const std::string_view products = shape.is_paired            ? (shape.is_apart ? "pairs-apart:" : "pairs:")
                                    : shape.is_apart           ? "apart:"
                                    : shape.is_long            ? "turns:"
                                    : shape.is_streamed        ? "streams:"
                                    : shape.tf32_products == 0 ? ""
                                    : shape.tf32_products == 1 ? "tf32:"
                                                               : "tf32x3:";
  return fmt::format("{}{}x{}/{}", products, shape.rows, shape.columns, shape.splits);
}

// A way to make pixels with few channels longer, so that they lie in packs.
struct Spreading {
  int64_t fold = 1;
  int64_t each = 0;  // elements of a pixel of the picture; 0: they are not
  int64_t pixel() const { return fold * fold * each; }
};

// Squares, or pixels, that a window sees along a side, the first of them before the picture, and pixels of the first
// one that the window does not see.
struct Seen {
  Seen(int64_t kernel, int64_t pad, int64_t fold)
      : skipped((fold - pad % fold) % fold),
        count((kernel + skipped + fold - 1) / fold),
        before((pad + skipped) / fold) {}
  int64_t skipped, count, before;
};
Seen seen_along_x(const ConvGeometry& g, int64_t fold) { return {g.kernel_width, g.pad_left, fold}; }
Seen seen_along_y(const ConvGeometry& g, int64_t fold) { return {g.kernel_height, g.pad_top, fold}; }

// Pixels of a line within which each window has its row.
int64_t spread_width(const ConvGeometry& g, int64_t fold) {
  return (g.out_width - 1) * g.stride_x / fold + seen_along_x(g, fold).count;
}

// Lets the product's picture have longer pixels, and a window's row be one pixel of all its elements.
void spread(const ConvGeometry& g, const Spreading& spreading, TileProduct& product) {
  const int64_t fold = spreading.fold, wide = spreading.pixel();
  const Seen x = seen_along_x(g, fold), y = seen_along_y(g, fold);
  product.spread = {product.left.pointer,  g.batch, g.height, g.width, g.channels, x.before,
                    spread_width(g, fold), fold};
  product.depth = y.count * x.count * wide;
  product.pixel = wide;
  product.left.items = {0};
  ConvGeometry& lines = *product.windows;
  lines.channels = x.count * wide;
  lines.height = (g.height + fold - 1) / fold;
  lines.width = spread_width(g, fold);
  lines.kernel_height = y.count;
  lines.kernel_width = 1;
  lines.stride_y /= fold;
  lines.stride_x /= fold;
  lines.pad_top = y.before;
  lines.pad_left = lines.pad_right = 0;
}

// Squares of pixels where windows go two steps at once and each has four channels at most. `each` is 0 if pixels lie in
// packs already, or if lines would not hold what a window sees in a row.
Spreading spreading_of(const ConvGeometry& g, tensor::DType dtype) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max(), kFewChannels = 4;
  const bool folds = tensor::bit_width(dtype) == 16 && g.channels <= kFewChannels && g.stride_y == 2 &&
                     g.stride_x == 2 && g.dilation_y == 1;
  const int64_t wide = padded_depth(g.channels, dtype);
  const Spreading made = folds ? Spreading{2, kFewChannels} : Spreading{1, wide};
  const bool is_worthwhile =
      g.groups == 1 && g.dilation_x == 1 && wide != g.channels && g.kernel_height * g.kernel_width > 1;
  const int64_t elements = g.batch * g.height * spread_width(g, made.fold) * made.pixel();
  return is_worthwhile && tensor::is_floating(dtype) && elements <= kMost ? made : Spreading{};
}

// The element of the weights, which lie by column, channel and place in the window, of one at a depth; -1: none.
int64_t filter_at(const ConvGeometry& g, const Spreading& spreading, const WeightPlace& place) {
  const int64_t channels = g.channels / g.groups;
  const int64_t fold = spreading.fold, each = spreading.each == 0 ? channels : spreading.each;
  const Seen x = seen_along_x(g, fold), y = seen_along_y(g, fold);
  const int64_t pixel = place.depth / each, channel = place.depth % each, square = pixel / (fold * fold);
  const int64_t at_y = square / x.count * fold + pixel / fold % fold - y.skipped;
  const int64_t at_x = square % x.count * fold + pixel % fold - x.skipped;
  const bool is_there = channel < channels && at_y >= 0 && at_y < g.kernel_height && at_x >= 0 && at_x < g.kernel_width;
  return is_there ? ((place.column * channels + channel) * g.kernel_height + at_y) * g.kernel_width + at_x : -1;
}

void set_filters(const Layer& layer, const ConvolutionForm& form, const Spreading& spreading, bool packs,
                 TileProduct& product) {
  const ConvGeometry& g = form.geometry;
  const int64_t stride = padded_depth(product.depth, form.weights->dtype());
  product.right = {{}, stride, 1, {product.columns * stride}};
  if (!packs) return;
  const auto at = [&](const WeightPlace& place) { return filter_at(g, spreading, place); };
  const std::string name =
      fmt::format("filters/{}x{}+{}+{}", spreading.fold, spreading.each, g.pad_top % 2, g.pad_left % 2);
  product.constants.push_back(ColumnPacker(layer, *form.weights).pack(g.out_channels, product.depth, name, at));
  product.right.pointer = fixed_pointer(product.constants.back().first);
}

// True for a window of one pixel that sees each of the picture once: a product of matrices.
bool is_pointwise(const ConvGeometry& g) {
  return g.kernel_height * g.kernel_width == 1 && g.groups == 1 && g.stride_y == 1 && g.stride_x == 1 &&
         g.out_height == g.height && g.out_width == g.width && g.pad_top == 0 && g.pad_left == 0;
}

}  // namespace

// Three products err by 2^-22 each: sums of many are off by more than that anyway.
FloatProducts permitted(const Layer& layer, const TileProduct& product) {
  constexpr int64_t kDeep = 64;
  if (layer.permits_tf32) return FloatProducts::tf32;
  return layer.is_strict || product.codes || product.depth < kDeep ? FloatProducts::exact : FloatProducts::nearly_exact;
}

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
  const Spreading spreading = spreading_of(g, data.dtype);
  const bool has_pixels = has_layout(data, Layout::channels_last);
  const bool lies_well = has_pixels || (spreading.each != 0 && has_layout(data, Layout::plain));
  if (g.is_transposed || !lies_well || !has_channels_last_order(layer.outputs[0])) return std::nullopt;
  TileProduct product{.type = data.dtype,
                      .rows = g.batch * g.out_height * g.out_width,
                      .columns = g.out_channels / g.groups,
                      .depth = g.kernel_height * g.kernel_width * (g.channels / g.groups),
                      .items = {g.groups},
                      .left = {input_pointer(static_cast<size_t>(form.data)), 0, 1, {g.channels / g.groups}},
                      .windows = g,
                      .pixel = g.channels};
  if (spreading.each != 0) {
    spread(g, spreading, product);
    product.spread->lies_in_planes = !has_pixels;
  }
  set_filters(layer, form, spreading, packs, product);
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
