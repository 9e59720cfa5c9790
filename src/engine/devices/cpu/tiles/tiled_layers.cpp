#include "engine/devices/cpu/tiles/tiled_layers.h"

#include <optional>
#include <utility>

#include "engine/devices/cpu/forms.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/devices/cpu/tiles/tiled_product.h"
#include "engine/devices/cpu/tiles/wide_pictures.h"
#include "engine/devices/cpu/tiles/windows.h"
#include "engine/devices/cpu/words/word_panels.h"
#include "engine/layers/convolution.h"
#include "engine/layers/product_geometry.h"

namespace assay::engine::cpu {
namespace {

// Elements of a type with so many bytes further on, whatever they are.
const float* moved(const float* from, int64_t elements, int64_t bytes) {
  return reinterpret_cast<const float*>(reinterpret_cast<const std::byte*>(from) + elements * bytes);
}

class ProductKernel final : public PlainKernel {
 public:
  ProductKernel(const ProductGeometry& geometry, int64_t bytes, TiledProduct product)
      : g_(geometry), bytes_(bytes), product_(std::move(product)) {}

  void run(const Arguments& arguments) const override {
    const auto* const left = host<const float>(arguments.inputs[static_cast<size_t>(g_.left)]);
    const auto places = [&](int64_t first, int64_t rows, const float** out) {
      for (int64_t i = 0; i < rows; ++i) out[i] = moved(left, (first + i) * g_.left_row, bytes_);
    };
    product_.run({places, arguments});
  }

 private:
  ProductGeometry g_;
  int64_t bytes_;  // of an element
  TiledProduct product_;
};

class TiledMatrices final : public Implementation {
 public:
  std::string_view name() const override { return "product.tiles"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    std::optional<ProductGeometry> g = float_product_of(layer);
    if (!g) return {};
    const tensor::Tensor* const weights = layer.constants[static_cast<size_t>(g->right)];
    if (weights == nullptr || g->item_count() != 1 || g->left_column != 1) return {};
    std::optional<TileEpilogue> epilogue = epilogue_of(layer, *g);
    if (!epilogue) return {};
    const TiledShape shape{.dtype = weights->dtype(),
                           .rows = g->rows,
                           .depth = g->depth,
                           .columns = g->columns,
                           .depth_stride = g->right_row,
                           .column_stride = g->right_column};
    if (!TiledProduct::fits(layer, shape, g->bias)) return {};
    return std::make_unique<ProductKernel>(*g, float_bytes(shape.dtype),
                                           TiledProduct(layer, *weights, shape, g->bias, std::move(*epilogue)));
  }

 private:
  // The epilogue of a product. A Gemm may add a whole matrix, which then is not a bias any more.
  static std::optional<TileEpilogue> epilogue_of(const Layer& layer, ProductGeometry& g) {
    constexpr int64_t kLeastRows = 9;  // fewer are the work of panels
    if (g.bias < 0 || has_bias_row(layer, g)) {
      return g.rows < kLeastRows ? std::nullopt : make_tile_epilogue(layer, 1);
    }
    if (layer.inputs[static_cast<size_t>(g.bias)] != layer.outputs[0]) return std::nullopt;
    return make_tile_epilogue(layer, 1, std::exchange(g.bias, -1));
  }
};

// Pictures are read where they lie, or in a copy.
class ConvolutionKernel final : public PlainKernel {
 public:
  ConvolutionKernel(const ConvolutionForm& source, const std::optional<WidePictures>& copy, TiledProduct product)
      : copy_(copy),
        windows_(copy_ ? copy_->windows()
                       : Windows(source.geometry, float_bytes(source.weights->dtype()), std::byte{0})),
        product_(std::move(product)) {
    if (!copy_) product_.leave_out([&](int64_t pixel) { return windows_.places_within(pixel); });
  }
  uint64_t workspace_bytes() const override { return copy_ ? copy_->workspace_bytes() : 0; }

  void run(const Arguments& arguments) const override {
    const auto* in = host<const std::byte>(arguments.inputs[0]);
    if (copy_) in = copy_->prepare(in, host<std::byte>(arguments.workspace));
    const auto places = [&](int64_t first, int64_t pixels, const float** out) {
      windows_.find(in, {first, pixels}, out);
    };
    product_.run({places, arguments});
  }

 private:
  std::optional<WidePictures> copy_;
  Windows windows_;
  TiledProduct product_;
};

// Convolutions with a window of one pixel, or the others.
class TiledConvolution final : public Implementation {
 public:
  explicit TiledConvolution(bool is_pointwise) : is_pointwise_(is_pointwise) {}
  std::string_view name() const override { return is_pointwise_ ? "conv.pointwise" : "conv.windows"; }
  bool yields(const Layer& layer) const override { return is_pointwise_ && multiplies_on_tiles(layer); }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const ConvolutionForm* const source = convolution_of(layer);
    if (source == nullptr || source->is_integer()) return {};
    const ConvGeometry& g = source->geometry;
    const int64_t window = g.kernel_height * g.kernel_width;
    if (g.is_transposed || g.groups != 1 || (window == 1) != is_pointwise_) return {};
    TiledShape shape{.dtype = source->weights->dtype(),
                     .rows = g.batch * g.out_height * g.out_width,
                     .steps = window,
                     .depth = g.channels,
                     .columns = g.out_channels,
                     .step_stride = 1,
                     .depth_stride = window,
                     .column_stride = window * g.channels};
    const std::optional<WidePictures> pictures = wide_pictures(g, shape);
    std::optional<TileEpilogue> epilogue = make_tile_epilogue(layer, 1);
    if (!epilogue || !TiledProduct::fits(layer, shape, source->bias)) return {};
    TiledProduct product(layer, *source->weights, shape, source->bias, std::move(*epilogue));
    return std::make_unique<ConvolutionKernel>(*source, pictures, std::move(product));
  }

 private:
  // A copy whose pixels fill words, and whose steps are longer than a few of these, or fewer; the shape becomes that of
  // its product.
  static std::optional<WidePictures> wide_pictures(const ConvGeometry& g, TiledShape& shape) {
    constexpr int64_t kFewChannels = 8;
    const int64_t numbers = numbers_of_word(shape.dtype);
    // Lines of three numbers of float32 are not worth the copy.
    const bool is_short = g.channels < kFewChannels && g.kernel_width > (numbers == 1 ? 3 : 1);
    const bool is_joined = g.dilation_x == 1 && (is_short || !TileDivision::can_divide(shape.steps));
    if (g.channels % numbers == 0 && !is_joined) return std::nullopt;
    const int64_t channels = rounded_up(g.channels, numbers);
    WidePictures pictures(g, channels, float_bytes(shape.dtype));
    shape.joined = pictures.joined();
    shape.zeros = channels - g.channels;
    shape.steps /= shape.joined;
    shape.depth = channels * shape.joined;
    return pictures;
  }

  bool is_pointwise_;
};

}  // namespace

std::unique_ptr<Implementation> tiled_matrices() { return std::make_unique<TiledMatrices>(); }
std::unique_ptr<Implementation> tiled_pointwise() { return std::make_unique<TiledConvolution>(true); }
std::unique_ptr<Implementation> tiled_windows() { return std::make_unique<TiledConvolution>(false); }

}  // namespace assay::engine::cpu
