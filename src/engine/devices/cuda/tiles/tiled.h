#pragma once

#include <cstring>

#include <fmt/core.h>

#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/tiles/tile_product.h"
#include "engine/devices/cuda/tiles/tile_shapes.h"
#include "engine/layers/convolution.h"
#include "engine/layers/product.h"
#include "engine/weights/packed_weights.h"

namespace assay::engine::cuda {

// The way in which the layer's floats may be multiplied.
FloatProducts permitted(const Layer& layer, const TileProduct& product);

// An element of constants by what it stands for in a product.
struct WeightPlace {
  int64_t column, depth;
};

// Elements of a depth, rounded up to whole packs of 16 bytes.
int64_t padded_depth(int64_t depth, tensor::DType dtype);

// Constants of a product in the card's memory.
class ColumnPacker {
 public:
  ColumnPacker(const Layer& layer, const tensor::Tensor& weights) : layer_(layer), weights_(weights) {}

  // With the depth innermost, each column padded with zeros: `at(place)` is the element, or -1 for a zero.
  // `form` names the order.
  template <typename At>
  Buffer pack(int64_t columns, int64_t depth, std::string_view form, const At& at) const {
    const int64_t stride = padded_depth(depth, weights_.dtype());
    const auto bytes = static_cast<size_t>(tensor::bit_width(weights_.dtype()) / 8);
    const auto size = static_cast<uint64_t>(columns * stride) * bytes;
    return layer_.packed->get(weights_, fmt::format("cuda.{}/{}", form, stride), size, [&](std::byte* to) {
      std::memset(to, 0, size);
      const std::byte* const from = weights_.bytes().data();
      for (int64_t column = 0; column < columns; ++column) {
        for (int64_t k = 0; k < depth; ++k) {
          const int64_t element = at(WeightPlace{column, k});
          if (element < 0) continue;
          std::memcpy(to + static_cast<size_t>(column * stride + k) * bytes,
                      from + static_cast<size_t>(element) * bytes, bytes);
        }
      }
    });
  }

 private:
  const Layer& layer_;
  const tensor::Tensor& weights_;
};

// The constant right operand of a product of matrices: where it will be, and if `packs`, its memory.
void set_right(const Layer& layer, const tensor::Tensor& weights, const ProductGeometry& g, bool packs,
               TileProduct& product);

// A convolution as a product, without its weights' memory unless `packs`. Nullopt: data or result lie in another order.
std::optional<TileProduct> window_product(const Layer& layer, const ConvolutionForm& form, bool packs);

// Kernels of tiles for layers that begin with a product.
class Tiled : public Operation {
 public:
  using Operation::Operation;
  std::vector<std::string> variants(const Layer& layer) const override;
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view variant) const override;

 protected:
  struct Found {
    TileProduct product;
    ElementSite site;
  };
  // `packs`: constants are made ready.
  virtual std::optional<Found> find(const Layer& layer, bool packs) const = 0;
};

}  // namespace assay::engine::cuda
