#include "engine/devices/cuda/tiles/tile_product.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "engine/devices/cuda/generate/element_kernel.h"
#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/devices/cuda/tiles/row_sums.h"
#include "engine/devices/cuda/tiles/tile_shapes.h"
#include "engine/devices/cuda/tiles/tile_stream.h"

namespace assay::engine::cuda {
namespace {

constexpr int64_t kTilePad = 8;  // elements behind a row of a tile of sums, so that rows begin in other banks

// The text of one product, with the numbers and pointers that its launch is given.
class TileWriter {
 public:
  TileWriter(const TileProduct& product, const TileShape& shape, ElementSite site)
      : product_(product), shape_(shape), site_(std::move(site)) {
    if (product_.spread) product_.left.pointer = workspace_pointer(part_bytes());
  }

  Launches write(Programs& programs) {
    Launches launches;
    launches.constants = product_.constants;
    launches.workspace_bytes = static_cast<uint64_t>(part_bytes());
    if (product_.weight_zeros) {
      launches.all.push_back(row_sums(programs, product_, workspace_pointer(part_bytes())));
      launches.workspace_bytes += static_cast<uint64_t>(product_.rows * product_.item_count()) * sizeof(int32_t);
    }
    if (product_.spread) {
      launches.all.push_back(spread(programs));
      launches.workspace_bytes += static_cast<uint64_t>(spread_elements() * bytes_of(product_));
    }
    if (shape_.is_streamed) {
      launches.all.push_back(stream_launch(programs, product_, shape_, std::move(site_)));
      return launches;
    }
    launches.all.push_back(products(programs));
    if (shape_.splits > 1) launches.counter_bytes = static_cast<uint64_t>(tiles()) * sizeof(int32_t);
    return launches;
  }

 private:
  std::array<int64_t, 3> grid() const {
    return {(product_.rows + shape_.rows - 1) / shape_.rows, (product_.columns + shape_.columns - 1) / shape_.columns,
            product_.item_count()};
  }
  int64_t tiles() const { return grid()[0] * grid()[1] * grid()[2]; }
  // Bytes of parts of the depth in the workspace; sums of rows follow.
  int64_t part_bytes() const {
    return shape_.splits > 1 && !shape_.is_streamed
               ? tiles() * shape_.splits * shape_.rows * shape_.columns * int64_t{sizeof(int32_t)}
               : 0;
  }

  int64_t spread_elements() const { return product_.spread->lines() * product_.spread->spread_width * product_.pixel; }

  Launch spread(Programs& programs) const {
    constexpr unsigned kThreads = 256;
    const SpreadPixels& picture = *product_.spread;
    KernelWriter writer;
    writer.type("T", product_.type);
    writer.pointer("kIn", "const T", picture.from);
    writer.pointer("kOut", "T", product_.left.pointer);
    writer.divisor("kLine", picture.spread_width);
    writer.number("kWidth", picture.width);
    writer.number("kBefore", picture.before);
    writer.number("kChannels", picture.channels);
    writer.number("kPixel", picture.lies_in_planes ? 1 : picture.channels);
    writer.number("kChannel", picture.lies_in_planes ? picture.height * picture.width : 1);
    writer.number("kHeight", picture.height);
    writer.divisor("kLines", picture.lines() / picture.batch);
    writer.constant("kFold", picture.fold);
    writer.constant("kSpread", product_.pixel);
    const int64_t packs = spread_elements() * bytes_of(product_) / kPackBytes;
    writer.number("kCount", packs);
    return writer.finish(programs, kThreads, blocks_for(packs, kThreads), spread_text());
  }

  Launch products(Programs& programs) {
    Launch launch;
    launch.threads = static_cast<unsigned>(threads());
    launch.grid = {static_cast<unsigned>(grid()[0]), static_cast<unsigned>(grid()[1]),
                   static_cast<unsigned>(grid()[2] * shape_.splits)};
    const int64_t stages =
        int64_t{stages_of(product_, shape_)} * (shape_.rows + shape_.columns) * step_bytes(product_, shape_);
    const int64_t sums = int64_t{shape_.rows} * (shape_.columns + kTilePad) * static_cast<int64_t>(sizeof(int32_t));
    launch.shared_bytes = static_cast<unsigned>(std::max(stages, sums));
    launch.begins_early =
        bytes_of(product_) < int64_t{sizeof(float)} && tiles() * shape_.splits <= programs.card().multiprocessors();
    const std::string codes = product_.codes ? codes_text(*product_.codes, launch) : std::string();
    const std::string work = work_text(launch);
    const std::string corrected = corrected_text(launch);
    const std::string taken = corrected + (shape_.splits > 1 ? parts_text(launch) : "") + taken_text(launch);
    launch.program =
        programs.get(std::string(elements_text()) + params_text(launch) + settings_text() + codes +
                     std::string(tile_work_text()) + work + taken + std::string(tile_places_text()) +
                     std::string(tile_pieces_text()) + std::string(tile_sums_text()) + std::string(tiles_text()));
    launch.program->allow_shared(launch.shared_bytes);
    return launch;
  }

  // Groups of warps that share each step of the depth, so that few blocks have enough of them.
  int warp_depth() const {
    constexpr int kMostWarps = 8;
    const bool is_alone = is_plain(product_, shape_.tf32_products);
    return is_alone ? 1 : std::max(1, kMostWarps / (shape_.warp_rows * shape_.warp_columns));
  }
  int threads() const { return 32 * shape_.warp_rows * shape_.warp_columns * warp_depth(); }
  int64_t step_depth() const { return step_bytes(product_, shape_) / bytes_of(product_); }

  std::string settings_text() const {
    std::string made = fmt::format("typedef {} T;\ntypedef {} Sum;\n", element_type(product_.type), sum_type());
    const auto set = [&](std::string_view name, int64_t value) { made += fmt::format("#define {} {}\n", name, value); };
    set("kIsFloat", is_plain(product_, shape_.tf32_products) ? 1 : 0);
    set("kProducts", shape_.tf32_products);
    set("kPromotes", is_float8(product_) ? 1 : 0);
    set("kRows", shape_.rows);
    set("kColumns", shape_.columns);
    set("kDepth", step_depth());
    set("kWarpRows", shape_.warp_rows);
    set("kWarpColumns", shape_.warp_columns);
    set("kWarpDepth", warp_depth());
    set("kThreads", threads());
    set("kStages", stages_of(product_, shape_));
    set("kTilePad", kTilePad);
    set("kSplits", shape_.splits);
    set("kZeroCode", product_.zero_code);
    set("kIsWindow", product_.windows ? 1 : 0);
    const ConvGeometry* const g = product_.windows ? &*product_.windows : nullptr;
    const bool is_in_tap = g != nullptr && left_packs(product_) && g->channels / g->groups % step_depth() == 0;
    set("kStepInTap", is_in_tap ? 1 : 0);
    set("kTapsX", g != nullptr ? g->kernel_width : 1);
    set("kTapsY", g != nullptr ? g->kernel_height : 1);
    constexpr int64_t kMostTaps = 32;  // a bit for each
    const bool has_few_taps = g == nullptr || (is_in_tap && g->kernel_width * g->kernel_height <= kMostTaps);
    const bool has_packs =
        left_packs(product_) && packs(product_, product_.right) && !product_.codes && product_.zero_code == 0;
    set("kIsStraight", has_packs && has_few_taps ? 1 : 0);
    set("kWholeSteps", product_.depth % step_depth() == 0 ? 1 : 0);
    set("kLeftPacks", left_packs(product_) ? 1 : 0);
    set("kRightPacks", packs(product_, product_.right) ? 1 : 0);
    set("kRightIsConstant", product_.right.pointer.kind == Pointer::Kind::fixed ? 1 : 0);
    set("kRightIsCompressed", product_.codes ? 1 : 0);
    set("kRightTurned", product_.right.along == 1 && product_.right.depth != 1 ? 1 : 0);
    return made;
  }

  // `work_of`: what the kernel is told.
  std::string work_text(Launch& launch) const {
    std::string made = "DEVICE Work work_of(const Params& p, int item) {\n  Work work;\n";
    const auto number = [&](std::string_view name, int64_t value) {
      made += fmt::format("  work.{} = p.n[{}];\n", name, launch.numbers.size());
      launch.add(value);
    };
    const auto divisor = [&](std::string_view name, int64_t value) {
      made += fmt::format("  work.{} = DIVISOR({});\n", name, launch.numbers.size());
      launch.add_divisor(value);
    };
    number("rows", product_.rows);
    number("columns", product_.columns);
    number("depth", product_.depth);
    number("left_row", product_.left.along);
    number("left_column", product_.left.depth);
    number("right_row", product_.right.depth);
    number("right_column", product_.right.along);
    if (product_.windows) {
      const ConvGeometry& g = *product_.windows;
      number("height", g.height);
      number("width", g.width);
      number("pixel", product_.pixel);
      divisor("by_pixels", g.out_height * g.out_width);
      divisor("by_width", g.out_width);
      divisor("by_channels", g.channels / g.groups);
      divisor("by_taps", g.kernel_width);
      for_places_of_windows(g, number);
    }
    return made + operands_text(launch) + "  return work;\n}\n";
  }

  std::string operands_text(Launch& launch) const {
    std::string made = offsets_text(launch);
    if (product_.codes) made += "  work.codes = compressed_of(p);\n";
    made += fmt::format("  work.left = (const T*)p.at[{}] + left;\n  work.right = (const T*)p.at[{}] + right;\n",
                        launch.pointers.size(), launch.pointers.size() + 1);
    launch.pointers.push_back(product_.left.pointer);
    launch.pointers.push_back(product_.right.pointer);
    return made;
  }

  // `left` and `right`: where the operands of `item` begin.
  std::string offsets_text(Launch& launch) const {
    std::string made = "  int64 left = 0, right = 0;\n  uint32 rest = (uint32)item;\n";
    for (size_t dim = product_.items.size(); dim-- > 0;) {
      const size_t at = launch.numbers.size();
      launch.add_divisor(product_.items[dim]);
      launch.add(product_.left.items[dim]);
      launch.add(product_.right.items[dim]);
      made += fmt::format(
          "  {{\n    const uint32 q = quotient(rest, DIVISOR({0}));\n    const int64 i = rest - q * (uint32)p.n[{0}];\n"
          "    left += i * p.n[{1}];\n    right += i * p.n[{2}];\n    rest = q;\n  }}\n",
          at, at + 3, at + 4);
    }
    return made;
  }

  std::string_view sum_type() const { return tensor::is_floating(product_.type) ? "float" : "int32"; }
  std::string_view plain_type() const { return product_.gives_integers ? "int32" : "float"; }

  // `corrected`: a sum with the share that zero points have in it taken away.
  std::string corrected_text(Launch& launch) const {
    std::string made = "#define corrected(sum, column, row) ((sum)";
    const auto add = [&](const Pointer& pointer) {
      launch.pointers.push_back(pointer);
      return launch.pointers.size() - 1;
    };
    if (product_.starts) made += fmt::format(" + ((const int32*)p.at[{}])[column]", add(*product_.starts));
    if (product_.starts && product_.zero) {
      made += fmt::format(" * (int32)*(const {}*)p.at[{}]", element_type(product_.zero_type), add(*product_.zero));
    }
    if (product_.weight_zeros) {
      const size_t zeros = add(*product_.weight_zeros), sums = add(workspace_pointer(part_bytes()));
      made += fmt::format(
          " - ((const int32*)p.at[{}])[column] * ((const int32*)p.at[{}])[(int64)item * work.rows + row]", zeros, sums);
    }
    return made + ")\n";
  }
  // The column of result n of an item among those of all items.
  static std::string_view column() { return "(item) * work.columns + (n)"; }

  // `parts` and `counters`: memory for sums of parts of the depth, and for the number of those that are there.
  std::string parts_text(Launch& launch) const {
    const size_t at = launch.pointers.size();
    launch.pointers.push_back(workspace_pointer());
    launch.pointers.push_back(counters_pointer());
    return fmt::format("#define parts(p) (({}*)p.at[{}])\n#define counters(p) ((int*)p.at[{}])\n", sum_type(), at,
                       at + 1);
  }

  // The place of result (m, n) of an item in the order of the result's memory.
  std::string place() const {
    return product_.windows ? fmt::format("((uint32)(m) * {0} + (uint32)(item)) * (uint32)work.columns + (uint32)(n)",
                                          product_.item_count())
                            : "((uint32)(item) * (uint32)work.rows + (uint32)(m)) * (uint32)work.columns + (uint32)(n)";
  }

  // `finish`, and `take` that calls it.
  std::string taken_text(Launch& launch) const {
    return finish_text(site_, launch, plain_type()) +
           fmt::format(
               "DEVICE void take(const Params& p, const Work& work, int item, int m, int n, const Pack<Sum, kTaken>& "
               "given) {{\n"
               "  Pack<{0}, kTaken> all;\n#pragma unroll\n"
               "  for (int i = 0; i < kTaken; ++i) all.e[i] = ({0})corrected(given.e[i], {1} + i, m);\n"
               "  finish(p, {2}, all);\n}}\n",
               plain_type(), column(), place());
  }

  TileProduct product_;
  TileShape shape_;
  ElementSite site_;
};

}  // namespace

int64_t TileProduct::item_count() const {
  return std::accumulate(items.begin(), items.end(), int64_t{1}, std::multiplies<>());
}

// Neighbouring columns that a thread takes at once: none begins a row in the middle.
int64_t taken_at_once(int64_t columns) {
  constexpr int64_t kMost = 8;
  return std::gcd(columns, kMost);
}

std::optional<Launches> tile_launches(Programs& programs, const TileProduct& product, const TileShape& shape,
                                      ElementSite site) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  constexpr int64_t kMostGrid = 65535;
  const int64_t results = product.item_count() * product.rows * product.columns;
  const bool fits = product.rows * product.depth <= kMost || product.windows;
  if (!fits || results > kMost || product.depth > kMost || product.item_count() * shape.splits > kMostGrid ||
      (product.columns + shape.columns - 1) / shape.columns > kMostGrid ||
      !site.find_walk(taken_at_once(product.columns))) {
    return std::nullopt;
  }
  return TileWriter(product, shape, std::move(site)).write(programs);
}

}  // namespace assay::engine::cuda
