// Products with constant matrices of small integers: few rows read the codes as fast as memory gives them, of more the
// weights are expanded on their way into the tiles.
#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/devices/cuda/tiles/few_rows.h"
#include "engine/devices/cuda/tiles/tiled.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {
namespace {

// A layer that begins with such a product, whose operands lie plainly.
struct CompressedLayer {
  const CompressedForm& form;
  size_t data;
  int64_t rows;
  ElementSite site;
};

std::optional<CompressedLayer> find_layer_of_codes(const Layer& layer) {
  const auto* const form = form_as<CompressedForm>(layer);
  if (form == nullptr || layer.outputs.size() != 1) return std::nullopt;
  const CompressedProduct& product = form->product;
  const ir::ValueId result = layer.result(layer.nodes[form->done - 1], 0);
  const int data = layer.input_of(product.data);
  if (data < 0 || layer.desc_of(result).dims != layer.outputs[0].dims) return std::nullopt;
  const TensorDesc& left = layer.inputs[static_cast<size_t>(data)];
  const bool lies_plainly = has_layout(left, Layout::plain) && has_layout(layer.outputs[0], Layout::plain);
  if (left.dtype != product.dtype || !lies_plainly) return std::nullopt;
  Bias bias{.input = product.bias.valid() ? layer.input_of(product.bias) : -1};
  if (product.bias.valid() && bias.input < 0) return std::nullopt;
  if (bias.input >= 0) bias.desc = layer.inputs[static_cast<size_t>(bias.input)];
  std::optional<ElementSite> site = followed_site(layer, form->done, bias);
  if (!site) return std::nullopt;
  return CompressedLayer{*form, static_cast<size_t>(data), layer.outputs[0].count() / product.columns,
                         std::move(*site)};
}

class CompressedRows final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "product.compressed"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    std::optional<CompressedLayer> found = find_layer_of_codes(layer);
    if (!found || found->rows > FewRows::kMostRows || !found->site.find_walk(1)) return {};
    const CompressedOperand operand = compressed_operand(layer, found->form.product, true);
    Launches launches;
    launches.constants.push_back(operand.bytes);
    const FewRows few{.type = found->form.product.dtype,
                      .rows = found->rows,
                      .columns = operand.columns,
                      .depth = operand.depth,
                      .left = input_pointer(found->data),
                      .left_row = operand.depth,
                      .right = {},
                      .codes = &operand};
    std::optional<Launch> launch;
    if (!layer.is_strict && suits_few_rows(few)) launch = few_rows_launch(programs(), few, found->site);
    launches.all.push_back(launch ? std::move(*launch) : launch_by_units(layer, *found, operand));
    return make_kernel(std::move(launches));
  }

 private:
  // For codes of any kind: a warp has one column or two, of which each lane takes a unit at a time.
  Launch launch_by_units(const Layer& layer, CompressedLayer& found, const CompressedOperand& operand) const {
    constexpr unsigned kThreads = 256, kWarps = kThreads / 32;
    // Two columns of a warp share what is read of the rows, if there are warps enough.
    const int64_t wanted = int64_t{2} * kWarps * programs().card().multiprocessors();
    const int64_t each = operand.columns >= 2 * wanted ? 2 : 1;
    KernelWriter writer;
    writer.type("Left", found.form.product.dtype);
    writer.pointer("kLeft", "const Left", input_pointer(found.data));
    writer.number("kColumns", operand.columns);
    writer.constant("kRows", found.rows);
    writer.constant("kColumnsOfWarp", each);
    writer.constant("kIsExact", layer.is_strict ? 1 : 0);
    writer.constant(
        "kIsWhole",
        operand.depth % 8 == 0 && operand.block % operand.unit == 0 && operand.depth % operand.block == 0 ? 1 : 0);
    writer.text(codes_text(operand, writer.launch()));
    writer.text(finish_text(std::move(found.site), writer.launch()));
    Launch launch =
        writer.finish(programs(), kThreads, blocks_for(operand.columns, kWarps * static_cast<unsigned>(each)),
                      compressed_rows_text());
    const int64_t processors = programs().card().multiprocessors();
    launch.begins_early = launch.grid[0] <= 4 * processors;
    return launch;
  }
};

class CompressedTiles final : public Tiled {
 public:
  using Tiled::Tiled;
  std::string_view name() const override { return "product.compressed_tiles"; }

 private:
  std::optional<Found> find(const Layer& layer, bool packs) const override {
    std::optional<CompressedLayer> found = find_layer_of_codes(layer);
    if (!found || found->rows <= FewRows::kMostRows) return std::nullopt;
    const CompressedProduct& product = found->form.product;
    TileProduct tiles{.type = product.dtype,
                      .rows = found->rows,
                      .columns = product.columns,
                      .depth = product.depth,
                      .items = {1},
                      .left = {input_pointer(found->data), product.depth, 1, {0}},
                      .right = {{}, 0, 0, {0}}};
    tiles.codes = compressed_operand(layer, product, packs);
    if (packs) tiles.constants.push_back(tiles.codes->bytes);
    return Found{std::move(tiles), std::move(found->site)};
  }
};

}  // namespace

KernelFamily cuda_kernel_compressed() { return family_of<CompressedRows, CompressedTiles>(); }

}  // namespace assay::engine::cuda
