// Products of matrices of floats, and convolutions as such products.
#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/tiles/few_rows.h"
#include "engine/devices/cuda/tiles/tiled.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {
namespace {

class Matrices : public Tiled {
 public:
  using Tiled::Tiled;
  std::string_view name() const override { return "product.tiles"; }

 protected:
  std::optional<Found> find(const Layer& layer, bool packs) const override {
    const auto* const form = form_as<ProductForm>(layer);
    if (form == nullptr || form->is_integer()) return std::nullopt;
    const std::optional<ProductGeometry> g = product_geometry(layer, *form);
    if (!g || g->right < 0) return std::nullopt;
    const TensorDesc& left = layer.inputs[static_cast<size_t>(g->left)];
    if (!is_short_float(left.dtype) || left.dtype != layer.inputs[static_cast<size_t>(g->right)].dtype) return {};
    Bias bias{.input = g->bias};
    if (g->bias >= 0) bias.desc = layer.inputs[static_cast<size_t>(g->bias)];
    std::optional<ElementSite> site = followed_site(layer, form->done, bias);
    if (!site) return std::nullopt;
    TileProduct product{
        .type = left.dtype,
        .rows = g->rows,
        .columns = g->columns,
        .depth = g->depth,
        .items = g->items,
        .left = {input_pointer(static_cast<size_t>(g->left)), g->left_row, g->left_column, g->left_items},
        .right = {input_pointer(static_cast<size_t>(g->right)), g->right_column, g->right_row, g->right_items}};
    if (form->weights != nullptr && g->item_count() == 1) set_right(layer, *form->weights, *g, packs, product);
    return Found{std::move(product), std::move(*site)};
  }
};

class Windows : public Tiled {
 public:
  using Tiled::Tiled;
  std::string_view name() const override { return "conv.tiles"; }

 protected:
  std::optional<Found> find(const Layer& layer, bool packs) const override {
    const auto* const form = form_as<ConvolutionForm>(layer);
    if (form == nullptr || form->is_integer()) return std::nullopt;
    const TensorDesc& data = layer.inputs[static_cast<size_t>(form->data)];
    if (!is_short_float(data.dtype) || form->weights->dtype() != data.dtype) return std::nullopt;
    std::optional<ElementSite> site = followed_site(layer, form->done, channel_bias(layer, *form));
    std::optional<TileProduct> product = site ? window_product(layer, *form, packs) : std::nullopt;
    if (!product) return std::nullopt;
    return Found{std::move(*product), std::move(*site)};
  }
};

// Either kind of product with few rows.
template <typename Kind>
class RowProducts final : public Kind {
 public:
  using Kind::Kind;
  std::string_view name() const override { return "product.rows"; }
  std::vector<std::string> variants(const Layer&) const override { return {}; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (const auto found = this->find(layer, false); !found || !suits(found->product)) return {};
    auto found = this->find(layer, true);
    const bool is_constant = found->product.right.pointer.kind == Pointer::Kind::fixed;
    if (!is_constant || !found->site.find_walk(1)) return {};
    std::optional<Launch> launch = few_rows_launch(this->programs(), rows_of(found->product), std::move(found->site));
    if (!launch) return {};
    Launches launches;
    launches.constants = found->product.constants;
    launches.all.push_back(std::move(*launch));
    return make_kernel(std::move(launches));
  }

 private:
  static FewRows rows_of(const TileProduct& product) {
    return {.type = product.type,
            .rows = product.rows,
            .columns = product.columns,
            .depth = product.depth,
            .left = product.left.pointer,
            .left_row = product.left.along,
            .right = product.right.pointer,
            .right_column = product.right.along};
  }
  static bool suits(const TileProduct& product) {
    const bool is_plain = product.item_count() == 1 && !product.windows && !product.spread && product.left.depth == 1 &&
                          product.right.depth == 1 && product.right.along > 0;
    return is_plain && suits_few_rows(rows_of(product));
  }
};

}  // namespace

KernelFamily cuda_kernel_products() {
  return family_of<RowProducts<Windows>, RowProducts<Matrices>, Windows, Matrices>();
}

}  // namespace assay::engine::cuda
