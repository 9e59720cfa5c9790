// Products with constant matrices of small integers: few rows read the codes as fast as memory gives them, of more the
// weights are expanded on their way into the tiles.
#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/devices/cuda/tiles/compressed_layer.h"
#include "engine/devices/cuda/tiles/few_rows.h"
#include "engine/devices/cuda/tiles/tiled.h"

namespace assay::engine::cuda {
namespace {

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
    FewRows few = few_rows_of(*found);
    few.codes = operand;
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
