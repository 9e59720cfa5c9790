// Products of matrices, and convolutions as such products.
#include <cstring>

#include <fmt/format.h>

#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/tiles/tile_product.h"
#include "engine/layers/form.h"
#include "engine/weights/packed_weights.h"

namespace assay::engine::cuda {
namespace {

bool is_multiplied(tensor::DType dtype) { return is_short_float(dtype); }

// Operands by where they are in the constant.
struct Place {
  int64_t column, depth;
};

// Constants with the depth innermost, each column rounded up to whole packs of 16 bytes: `at(place)` is the element.
template <typename At>
Buffer packed_columns(const Layer& layer, const tensor::Tensor& weights, int64_t columns, int64_t depth, int64_t stride,
                      std::string_view form, const At& at) {
  const auto bytes = static_cast<size_t>(tensor::bit_width(weights.dtype()) / 8);
  const auto size = static_cast<uint64_t>(columns * stride) * bytes;
  return layer.packed->get(weights, fmt::format("cuda.{}/{}", form, stride), size, [&](std::byte* to) {
    std::memset(to, 0, size);
    const std::byte* const from = weights.bytes().data();
    for (int64_t column = 0; column < columns; ++column) {
      for (int64_t k = 0; k < depth; ++k) {
        std::memcpy(to + static_cast<size_t>(column * stride + k) * bytes,
                    from + static_cast<size_t>(at(Place{column, k})) * bytes, bytes);
      }
    }
  });
}

int64_t padded_depth(int64_t depth, tensor::DType dtype) {
  const int64_t pack = 16 / (tensor::bit_width(dtype) / 8);
  return (depth + pack - 1) / pack * pack;
}

// The name of a shape among the variants, and back: `128x64/2`, with the parts of the depth.
std::string name_of(const TileShape& shape) { return fmt::format("{}x{}/{}", shape.rows, shape.columns, shape.splits); }

// Kernels of tiles for layers that begin with a product.
class Tiles : public Operation {
 public:
  using Operation::Operation;

  std::vector<std::string> variants(const Layer& layer) const override {
    std::vector<std::string> names;
    const std::optional<Found> found = find(layer, false);
    if (!found) return names;
    for (const TileShape& shape : tile_shapes(found->product, processors())) names.push_back(name_of(shape));
    return names;
  }

  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view variant) const override {
    std::optional<Found> found = find(layer, true);
    if (!found) return {};
    for (const TileShape& shape : tile_shapes(found->product, processors())) {
      if (!variant.empty() && name_of(shape) != variant) continue;
      std::optional<Launches> launches = tile_launches(programs(), found->product, shape, std::move(found->site));
      return launches ? make_kernel(std::move(*launches)) : nullptr;
    }
    return {};
  }

 protected:
  struct Found {
    TileProduct product;
    ElementSite site;
  };
  // `packs`: constants are made ready.
  virtual std::optional<Found> find(const Layer& layer, bool packs) const = 0;

  // The site of all that follows the product in the layer: its bias, an input, and the nodes from `done` on.
  static std::optional<ElementSite> followed(const Layer& layer, size_t done, int bias, const TensorDesc& bias_desc) {
    const std::optional<Chain> chain = find_chain(layer, done, layer.result(layer.nodes[done - 1], 0));
    std::optional<ElementText> text = chain ? chain_text(layer, *chain) : std::nullopt;
    if (!text) return std::nullopt;
    std::vector<ElementOperand> operands;
    for (const int input : text->inputs) {
      operands.push_back({input_pointer(static_cast<size_t>(input)), layer.inputs[static_cast<size_t>(input)]});
    }
    if (bias >= 0) {
      text->statements = fmt::format("    const float given = plain + x{};\n", operands.size()) + text->statements;
      operands.push_back({input_pointer(static_cast<size_t>(bias)), bias_desc});
      if (!is_read_as_float(bias_desc.dtype)) return std::nullopt;
    } else {
      text->statements = "    const float given = plain;\n" + text->statements;
    }
    return ElementSite(std::move(*text), std::move(operands), {output_pointer(0), layer.outputs[0]});
  }

 private:
  int processors() const { return programs().card().multiprocessors(); }
};

class Matrices final : public Tiles {
 public:
  using Tiles::Tiles;
  std::string_view name() const override { return "product.tiles"; }

 private:
  std::optional<Found> find(const Layer& layer, bool packs) const override {
    const auto* const form = form_as<ProductForm>(layer);
    if (form == nullptr || form->is_integer()) return std::nullopt;
    const std::optional<ProductGeometry> g = product_geometry(layer, *form);
    if (!g || g->right < 0) return std::nullopt;
    const TensorDesc& left = layer.inputs[static_cast<size_t>(g->left)];
    const TensorDesc& right = layer.inputs[static_cast<size_t>(g->right)];
    if (!is_multiplied(left.dtype) || left.dtype != right.dtype) return std::nullopt;
    const TensorDesc bias = g->bias < 0 ? TensorDesc() : layer.inputs[static_cast<size_t>(g->bias)];
    std::optional<ElementSite> site = followed(layer, form->done, g->bias, bias);
    if (!site) return std::nullopt;
    TileProduct product{
        .type = left.dtype,
        .rows = g->rows,
        .columns = g->columns,
        .depth = g->depth,
        .items = g->items,
        .left = {input_pointer(static_cast<size_t>(g->left)), g->left_row, g->left_column, g->left_items},
        .right = {input_pointer(static_cast<size_t>(g->right)), g->right_column, g->right_row, g->right_items}};
    if (form->weights != nullptr && g->item_count() == 1) pack_right(layer, *form->weights, *g, packs, product);
    return Found{std::move(product), std::move(*site)};
  }

  static void pack_right(const Layer& layer, const tensor::Tensor& weights, const ProductGeometry& g, bool packs,
                         TileProduct& product) {
    const int64_t stride = padded_depth(g.depth, product.type);
    product.right = {{}, stride, 1, std::vector<int64_t>(product.items.size(), 0)};
    if (!packs) return;
    const auto at = [&](const Place& place) { return place.depth * g.right_row + place.column * g.right_column; };
    const std::string form = fmt::format("columns/{}x{}", g.right_row, g.right_column);
    product.constants.push_back(packed_columns(layer, weights, g.columns, g.depth, stride, form, at));
    product.right.pointer = fixed_pointer(product.constants.back().first);
  }
};

class Windows final : public Tiles {
 public:
  using Tiles::Tiles;
  std::string_view name() const override { return "conv.tiles"; }

 private:
  std::optional<Found> find(const Layer& layer, bool packs) const override {
    const auto* const form = form_as<ConvolutionForm>(layer);
    if (form == nullptr || form->is_integer() || form->geometry.is_transposed) return std::nullopt;
    const ConvGeometry& g = form->geometry;
    const TensorDesc& data = layer.inputs[static_cast<size_t>(form->data)];
    if (!is_multiplied(data.dtype) || form->weights->dtype() != data.dtype) return std::nullopt;
    if (!has_layout(data, Layout::channels_last) || !has_channels_last_order(layer.outputs[0])) return std::nullopt;
    TensorDesc bias;
    if (form->bias >= 0) bias = along_channels(layer.inputs[static_cast<size_t>(form->bias)], layer.outputs[0]);
    std::optional<ElementSite> site = followed(layer, form->done, form->bias, bias);
    if (!site) return std::nullopt;
    TileProduct product{.type = data.dtype,
                        .rows = g.batch * g.out_height * g.out_width,
                        .columns = g.out_channels / g.groups,
                        .depth = g.kernel_height * g.kernel_width * (g.channels / g.groups),
                        .items = {g.groups},
                        .left = {input_pointer(static_cast<size_t>(form->data)), 0, 1, {g.channels / g.groups}},
                        .windows = g,
                        .pixel = g.channels};
    pack_filters(layer, *form, packs, product);
    return Found{std::move(product), std::move(*site)};
  }

  static bool has_channels_last_order(const TensorDesc& out) {
    return memory_order(out) == memory_order(make_desc(out.dtype, out.dims, Layout::channels_last));
  }
  // The bias as an operand of a result whose second dim are the channels.
  static TensorDesc along_channels(const TensorDesc& bias, const TensorDesc& out) {
    TensorDesc desc{bias.dtype, tensor::Shape(out.dims.size() - 1, 1), tensor::Shape(out.dims.size() - 1, 0)};
    desc.dims[0] = bias.dims.back();
    desc.strides[0] = bias.strides.back();
    return desc;
  }

  static void pack_filters(const Layer& layer, const ConvolutionForm& form, bool packs, TileProduct& product) {
    const ConvGeometry& g = form.geometry;
    const int64_t channels = g.channels / g.groups, taps = g.kernel_height * g.kernel_width;
    const int64_t stride = padded_depth(product.depth, product.type);
    product.right = {{}, stride, 1, {product.columns * stride}};
    if (!packs) return;
    const auto at = [&](const Place& place) {
      return (place.column * channels + place.depth % channels) * taps + place.depth / channels;
    };
    product.constants.push_back(
        packed_columns(layer, *form.weights, g.out_channels, product.depth, stride, "filters", at));
    product.right.pointer = fixed_pointer(product.constants.back().first);
  }
};

}  // namespace

KernelFamily cuda_kernel_products() { return family_of<Windows, Matrices>(); }

}  // namespace assay::engine::cuda
