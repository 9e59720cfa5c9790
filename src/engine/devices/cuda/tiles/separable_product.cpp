#include "engine/devices/cuda/tiles/separable_product.h"

#include <algorithm>
#include <array>

#include "engine/devices/cuda/depthwise.h"
#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/devices/cuda/tiles/tiled.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {
namespace {

constexpr int64_t kPack = 8;   // elements that are moved at once
constexpr int64_t kStep = 64;  // channels whose rows lie side by side
constexpr int64_t kMostThreads = 512;

int64_t parts_of(int64_t size, int64_t part) { return (size + part - 1) / part; }

// All that follows from the shape.
class Plan {
 public:
  Plan(const SeparableProduct& product, const SeparableShape& shape) : product_(product), shape_(shape) {}

  const SeparableShape& shape() const { return shape_; }
  int64_t chunks() const { return product_.windows.channels / kPack; }
  int64_t units() const { return parts_of(chunks(), 2); }
  // Threads that make a row of the block's channels, and rows that are made at once.
  int64_t lanes() const { return parts_of(chunks(), shape_.blocks); }
  int64_t groups() const { return std::min<int64_t>(threads() / lanes(), shape_.rows); }
  int64_t rounds() const { return parts_of(shape_.rows, groups()); }
  int64_t warp_rows() const { return shape_.rows / 16; }
  int64_t warp_columns() const { return shape_.columns % 64 == 0 || shape_.columns == 96 ? 2 : 1; }
  int64_t warp_depth() const { return threads() / (32 * warp_rows() * warp_columns()); }
  int64_t threads() const {
    const int64_t least = 32 * warp_rows() * warp_columns();
    int64_t threads = kMostThreads / 4;
    while (threads < kMostThreads && threads < std::max(lanes() * shape_.rows, least)) threads *= 2;
    return threads;
  }
  int64_t row_tiles() const { return parts_of(product_.rows, shape_.rows); }
  int64_t column_tiles() const { return parts_of(product_.columns, int64_t{shape_.columns} * shape_.blocks); }
  int64_t all_blocks() const { return row_tiles() * column_tiles() * shape_.blocks; }
  int64_t shared_bytes() const {
    const int64_t operands = parts_of(units() * 2 * kPack, kStep) * kStep * 2 * (shape_.rows + shape_.columns);
    return operands + warp_depth() * shape_.rows * (shape_.columns + 8) * int64_t{sizeof(float)};
  }
  bool begins_early(int processors) const { return all_blocks() <= processors; }
  bool fits(const Card& card) const { return lanes() <= kMostThreads && shared_bytes() <= card.shared_bytes(); }

  // Cycles beside those of any launch.
  double cost(int processors) const {
    constexpr double kRead = 700;  // until what a thread has asked for is there
    constexpr double kLate = 800;  // of a launch that cannot begin early
    const double turns = static_cast<double>(parts_of(all_blocks(), processors));
    const double taps = static_cast<double>(product_.windows.kernel_height * product_.windows.kernel_width);
    const double warps = static_cast<double>(parts_of(groups() * lanes(), 32));
    const double window = warps * (100 + 20 * taps) / 4;  // instructions of one round
    const double give = shape_.blocks > 1 ? 600 + 40.0 * shape_.blocks : 0;
    const double multiply = static_cast<double>(parts_of(units(), warp_depth())) *
                            (30 + 2.0 * static_cast<double>(shape_.columns) / static_cast<double>(warp_columns()));
    const double columns = static_cast<double>(shape_.columns * units()) * 32 / 45;  // to read them
    const auto all = static_cast<double>(rounds());
    return kRead * (1 + 0.5 * (all - 1)) + turns * all * window + give + turns * (multiply + 0.3 * columns) + 300 +
           (begins_early(processors) ? 0 : kLate);
  }

 private:
  const SeparableProduct& product_;
  SeparableShape shape_;
};

// Cycles of the two convolutions beside those of one launch.
double cost_apart(const SeparableProduct& product, int processors) {
  constexpr double kLaunch = 2900, kRead = 700, kProduct = 1000;
  const ConvGeometry& g = product.windows;
  const double taps = static_cast<double>(g.kernel_height * g.kernel_width);
  const double results = static_cast<double>(product.rows * g.channels);
  const double window = results / kPack / 32 * (100 + 20 * taps) / 4 / processors;
  const double multiply = results * static_cast<double>(product.columns) / 1024 / processors;
  return kLaunch + kRead + window + kProduct + multiply;
}

// Lets pointers from `first` on, which name inputs of a part, name those of the whole layer.
void rename_inputs(const LayerPart& part, size_t first, Launch& launch) {
  for (size_t i = first; i < launch.pointers.size(); ++i) {
    Pointer& pointer = launch.pointers[i];
    if (pointer.kind == Pointer::Kind::input) pointer.index = static_cast<uint32_t>(part.inputs[pointer.index]);
  }
}

// Finds the site of what follows the convolution of a part.
std::optional<ElementSite> site_of(const LayerPart& part, int64_t most_pack) {
  const auto* const form = form_as<ConvolutionForm>(part.layer);
  std::optional<ElementSite> site =
      form != nullptr ? followed_site(part.layer, form->done, channel_bias(part.layer, *form)) : std::nullopt;
  return site && site->find_walk(most_pack) ? std::move(site) : std::nullopt;
}

// Names of separable.cu, but for the windows.
void write_product(const Plan& plan, const TileProduct& product, KernelWriter& writer) {
  writer.pointer("kRight", "const T", product.right.pointer);
  writer.number("kRightColumn", product.right.along);
  writer.number("kPixels", product.rows);
  writer.number("kResults", product.columns);
  writer.number("kUnits", plan.units());
  writer.number("kGroups", plan.groups());
  writer.divisor("kByLanes", plan.lanes());
  writer.text("typedef float Sum;\n#define kIsFloat 0\n");
  writer.constant("kProducts", 0);
  writer.constant("kRows", plan.shape().rows);
  writer.constant("kColumns", plan.shape().columns);
  writer.constant("kBlocks", plan.shape().blocks);
  writer.constant("kDepth", kStep);
  writer.constant("kWarpRows", plan.warp_rows());
  writer.constant("kWarpColumns", plan.warp_columns());
  writer.constant("kWarpDepth", plan.warp_depth());
}

}  // namespace

SeparableShapes separable_shapes(const SeparableProduct& product, const Card& card) {
  constexpr int kClusters = 90;  // the capability that has them
  constexpr int64_t kWide = 96, kUsual = 64, kTile = 16;
  SeparableShapes shapes;
  for (const int rows : {16, 32, 64, 128}) {
    for (const int blocks : {1, 2, 4, 8}) {
      if (blocks > 1 && card.capability() != kClusters) continue;
      const int64_t wanted = parts_of(parts_of(product.columns, blocks), kTile) * kTile;
      const SeparableShape shape{rows, static_cast<int>(wanted <= kWide ? wanted : kUsual), blocks};
      const bool is_wasteful =
          int64_t{shape.columns} * blocks >= 2 * std::max<int64_t>(product.columns, kTile * blocks / 2) ||
          rows >= 2 * std::max<int64_t>(product.rows, kTile);
      const Plan plan(product, shape);
      if (!is_wasteful && plan.lanes() * blocks < plan.chunks() + blocks && plan.fits(card))
        shapes.all.push_back(shape);
    }
  }
  const auto cost = [&](const SeparableShape& shape) { return Plan(product, shape).cost(card.multiprocessors()); };
  std::ranges::stable_sort(shapes.all, {}, cost);
  shapes.is_quicker = !shapes.all.empty() && cost(shapes.all.front()) <= cost_apart(product, card.multiprocessors());
  return shapes;
}

std::optional<SeparableProduct> separable_product(const Separated& parts) {
  const auto* const first = form_as<ConvolutionForm>(parts.depthwise.layer);
  const auto* const second = form_as<ConvolutionForm>(parts.pointwise.layer);
  if (first == nullptr || second == nullptr || !is_depthwise(parts.depthwise.layer, *first)) return std::nullopt;
  const std::optional<TileProduct> product = window_product(parts.pointwise.layer, *second, false);
  const std::optional<ElementSite> windows = site_of(parts.depthwise, kPack);
  const bool has_sites = windows && windows->pack() == kPack && windows->is_by_column(first->geometry.channels) &&
                         site_of(parts.pointwise, 1);
  if (!product || product->windows || product->spread || !has_sites) return std::nullopt;
  return SeparableProduct{first->geometry, product->rows, product->columns};
}

std::unique_ptr<Kernel> separable_kernel(Programs& programs, const Separated& parts, const SeparableShape& shape) {
  const std::optional<SeparableProduct> product = separable_product(parts);
  if (!product) return {};
  const Plan plan(*product, shape);
  const ConvolutionForm& first = *form_as<ConvolutionForm>(parts.depthwise.layer);
  const ConvolutionForm& second = *form_as<ConvolutionForm>(parts.pointwise.layer);
  const std::optional<TileProduct> packed = window_product(parts.pointwise.layer, second, true);
  Launches launches;
  launches.constants = packed->constants;
  KernelWriter writer;
  Launch& launch = writer.launch();
  write_windows(parts.depthwise.layer, first,
                input_pointer(static_cast<size_t>(parts.depthwise.inputs[static_cast<size_t>(first.data)])), writer,
                launches.constants);
  write_product(plan, *packed, writer);
  const size_t of_first = launch.pointers.size();
  std::string before = apart_text(*site_of(parts.depthwise, kPack), launch, product->windows.channels);
  rename_inputs(parts.depthwise, of_first, launch);
  const size_t of_second = launch.pointers.size();
  before += row_finish_text(*site_of(parts.pointwise, taken_at_once(product->columns)), launch, product->columns);
  rename_inputs(parts.pointwise, of_second, launch);
  before += std::string(tile_places_text()) + std::string(tile_sums_text()) + std::string(depthwise_window_text());
  launch.shared_bytes = static_cast<unsigned>(plan.shared_bytes());
  launch.begins_early = plan.begins_early(programs.card().multiprocessors());
  const auto threads = static_cast<unsigned>(plan.threads());
  Launch made = writer.finish(programs, threads, plan.row_tiles(), separable_text(), before);
  made.grid = {static_cast<unsigned>(plan.row_tiles()), static_cast<unsigned>(plan.column_tiles()),
               static_cast<unsigned>(shape.blocks)};
  launches.all.push_back(std::move(made));
  return make_kernel(std::move(launches));
}

}  // namespace assay::engine::cuda
