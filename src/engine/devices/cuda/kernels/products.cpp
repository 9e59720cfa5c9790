// Products of matrices of floats, and convolutions as such products.
#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/devices/cuda/tiles/tile_shapes.h"
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

// True for constant columns of 16-bit elements that few rows are multiplied by: memory bounds the time.
bool has_few_rows(const TileProduct& product) {
  constexpr int64_t kMostRows = 4, kPack = 8;
  return bytes_of(product) == 2 && product.rows <= kMostRows && product.item_count() == 1 && !product.windows &&
         !product.spread && product.right.along > 0 && product.right.along % kPack == 0 && product.right.depth == 1 &&
         product.left.depth == 1 && product.left.along % kPack == 0 && product.depth % kPack == 0;
}

Launch few_rows_launch(Programs& programs, const TileProduct& product, ElementSite site) {
  constexpr unsigned kThreads = 128, kWarps = kThreads / 32;
  constexpr int64_t kMostPacks = 12;  // of a lane, which registers hold
  const int64_t processors = programs.card().multiprocessors();
  int64_t each = 1;  // columns of a warp
  while (each < 4 && product.columns >= 2 * each * 8 * processors) each *= 2;
  KernelWriter writer;
  writer.type("T", product.type);
  writer.pointer("kLeft", "const T", product.left.pointer);
  writer.pointer("kRight", "const T", product.right.pointer);
  writer.number("kLeftRow", product.left.along);
  writer.number("kRightColumn", product.right.along);
  writer.number("kColumns", product.columns);
  writer.number("kDepth", product.depth);
  writer.constant("kRows", product.rows);
  writer.constant("kColumnsOfWarp", each);
  writer.constant("kPacks", std::clamp<int64_t>((product.depth + 255) / 256, 1, kMostPacks / each));
  writer.text(finish_text(std::move(site), writer.launch()));
  Launch launch = writer.finish(programs, kThreads, blocks_for(product.columns, kWarps * static_cast<unsigned>(each)),
                                few_rows_text());
  launch.begins_early = launch.grid[0] <= 4 * processors;
  return launch;
}

// Either kind of product with few rows.
template <typename Kind>
class FewRows final : public Kind {
 public:
  using Kind::Kind;
  std::string_view name() const override { return "product.rows"; }
  std::vector<std::string> variants(const Layer&) const override { return {}; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (const auto found = this->find(layer, false); !found || !has_few_rows(found->product)) return {};
    auto found = this->find(layer, true);
    const bool is_constant = found->product.right.pointer.kind == Pointer::Kind::fixed;
    if (!is_constant || !found->site.find_walk(1)) return {};
    Launches launches;
    launches.constants = found->product.constants;
    launches.all.push_back(few_rows_launch(this->programs(), found->product, std::move(found->site)));
    return make_kernel(std::move(launches));
  }
};

}  // namespace

KernelFamily cuda_kernel_products() { return family_of<FewRows<Windows>, FewRows<Matrices>, Windows, Matrices>(); }

}  // namespace assay::engine::cuda
