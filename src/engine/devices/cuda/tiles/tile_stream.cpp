#include "engine/devices/cuda/tiles/tile_stream.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/devices/cuda/tiles/tile_shapes.h"

namespace assay::engine::cuda {
namespace {

constexpr int64_t kRowBytes = 128;  // of a step of the depth
constexpr int64_t kGroupRows = 64;  // of four warps
constexpr int64_t kMostStages = 8;
constexpr int64_t kBarrierBytes = (2 * kMostStages + 2) * 8;
constexpr int64_t kOwnBytes = int64_t{16} * 40 * 4;  // of a warp: 16 rows of a part of the columns

int64_t channels_of(const ConvGeometry& g) { return g.channels / g.groups; }
int64_t step_of(const TileProduct& product) { return kRowBytes / bytes_of(product); }
int64_t steps_of(const TileProduct& product) {
  const auto steps = [&](int64_t depth) { return (depth + step_of(product) - 1) / step_of(product); };
  if (!product.windows) return steps(product.depth);
  const ConvGeometry& g = *product.windows;
  return g.kernel_height * g.kernel_width * steps(channels_of(g));
}
int64_t tiles_along(int64_t results, int64_t of_tile) { return (results + of_tile - 1) / of_tile; }

// Tiles along the rows; an even number where blocks are in pairs: rows that are not there have no results.
int64_t row_tiles_of(const TileProduct& product, const TileShape& shape) {
  const int64_t tiles = tiles_along(product.rows, shape.rows);
  return shape.is_paired ? (tiles + 1) / 2 * 2 : tiles;
}

// Blocks that fit on a processor beside each other.
int64_t resident_blocks(const TileShape& shape) { return shape.rows * shape.columns <= 128 * 64 ? 2 : 1; }

// The text of one product, with what its launch is given.
class StreamWriter {
 public:
  StreamWriter(const TileProduct& product, const TileShape& shape, ElementSite site)
      : product_(product), shape_(shape), site_(std::move(site)) {}

  Launch write(Programs& programs) {
    Launch launch;
    launch.maps = {left(), right()};
    launch.threads = static_cast<unsigned>(consumers() + movers());
    launch.shared_bytes = static_cast<unsigned>(shared_bytes());
    if (shape_.is_long) {
      const int64_t fitting = int64_t{programs.card().multiprocessors()} * resident();
      const int64_t tiles = row_tiles() * column_tiles() * product_.item_count();
      const int64_t together = shape_.is_paired ? 2 : 1;
      launch.grid = {static_cast<unsigned>(std::min(tiles, fitting) / together), 1, static_cast<unsigned>(together)};
    } else {
      launch.grid = {static_cast<unsigned>(row_tiles()), static_cast<unsigned>(column_tiles()),
                     static_cast<unsigned>(product_.item_count() * shape_.splits)};
    }
    // Blocks wait for the launch before with their weights at hand, where each has a processor.
    const int64_t blocks = row_tiles() * column_tiles() * product_.item_count() * shape_.splits;
    launch.begins_early = shape_.is_long || blocks <= programs.card().multiprocessors();
    const std::string work = work_text(launch);
    launch.program = programs.get(std::string(elements_text()) + params_text(launch) + settings_text() + work +
                                  finish(launch) + multiply_text() + std::string(streams_text()) +
                                  std::string(shape_.is_long ? stream_turns_text() : stream_clusters_text()));
    launch.program->allow_shared(launch.shared_bytes);
    return launch;
  }

 private:
  std::string finish(Launch& launch) const {
    if (!shape_.is_long) return row_finish_text(site_, launch, product_.columns);
    return pairs() ? paired_finish_text(site_, launch, product_.columns)
                   : slotted_finish_text(site_, launch, product_.columns);
  }
  // Sums of the same thread are finished two by two, and results exchanged: quicker where no operand waits in slots.
  bool pairs() const { return shape_.columns % 32 == 0 && slots() == 0 && site_.can_pair(product_.columns); }
  int64_t row_tiles() const { return row_tiles_of(product_, shape_); }
  int64_t moved_columns() const { return shape_.is_paired ? shape_.columns / 2 : shape_.columns; }
  int64_t column_tiles() const { return tiles_along(product_.columns, shape_.columns); }
  // Groups of four warps, and those that share a tile; one of more rows has more for each.
  int64_t sharing() const { return shape_.is_apart ? 1 : std::min<int64_t>(shape_.rows / kGroupRows, 2); }
  int64_t groups() const { return shape_.is_apart ? 2 : sharing(); }
  int64_t consumers() const { return 128 * groups(); }
  // Warps are given up registers by whole groups.
  bool shares_registers() const { return shape_.is_long && resident() == 1 && groups() == 2; }
  int64_t movers() const { return shares_registers() ? 128 : 32; }
  int64_t stage_bytes() const { return (shape_.rows + shape_.columns) * kRowBytes; }
  // Memory for sums on their way to those that finish them.
  int64_t own_bytes() const {
    const int64_t tile = int64_t{shape_.rows} * (shape_.columns + 8) * int64_t{sizeof(float)};
    return shape_.is_long ? consumers() / 32 * kOwnBytes : tile;
  }
  // Parts of a tile whose operands wait in slots, 16 bytes for each pack of results, and the bytes of all of them.
  int64_t ring() const {
    const int64_t parts = int64_t{shape_.rows} * shape_.columns / (4 * sharing() * part_results());
    int64_t made = resident() == 1 ? 4 : 2;
    while (parts % made != 0) --made;
    return made;
  }
  int64_t slots() const { return shape_.is_long ? static_cast<int64_t>(slotted().slots()) : 0; }
  ElementSite slotted() const {
    ElementSite site = site_;
    site.use_slots();
    return site;
  }
  int64_t part_results() const { return int64_t{16} * (shape_.columns % 32 == 0 ? 32 : 16); }
  int64_t packs_of_part() const { return (part_results() / site_.pack() + 31) / 32; }
  int64_t slot_stride() const { return consumers() * kPackBytes; }
  int64_t slot_bytes() const { return ring() * packs_of_part() * slots() * slot_stride(); }
  int64_t resident() const { return resident_blocks(shape_); }
  int64_t stages() const {
    constexpr int64_t kMost = 222 << 10;
    const int64_t room = kMost / resident() - own_bytes() - slot_bytes() - 1024;
    const int64_t useful = shape_.is_long ? kMostStages : tiles_along(steps_of(product_), shape_.splits);
    return std::clamp<int64_t>(std::min(room / stage_bytes(), useful), 1, kMostStages);
  }
  int64_t barrier_place() const { return stages() * stage_bytes(); }
  int64_t own_place() const { return (barrier_place() + kBarrierBytes + 127) / 128 * 128; }
  int64_t slot_place() const { return own_place() + own_bytes(); }
  int64_t shared_bytes() const { return slot_place() + slot_bytes(); }

  MappedOperand left() const {
    MappedOperand made{product_.left.pointer, {.type = product_.type}};
    if (!product_.windows) {
      made.map.dims = {product_.depth, product_.rows, left_items()};
      made.map.strides = {product_.left.along, item_stride(product_.left, product_.rows)};
      made.map.box = {step_of(product_), shape_.rows, 1};
      return made;
    }
    const ConvGeometry& g = *product_.windows;
    made.map.dims = {g.channels, g.width, g.height, g.batch};
    made.map.strides = {product_.pixel, g.width * product_.pixel, g.height * g.width * product_.pixel};
    made.map.box = {step_of(product_), shape_.rows};
    made.map.windows = {static_cast<int>(g.pad_left),
                        static_cast<int>(g.pad_top),
                        static_cast<int>(g.stride_x),
                        static_cast<int>(g.stride_y),
                        g.out_width,
                        g.out_height};
    return made;
  }
  MappedOperand right() const {
    MappedOperand made{product_.right.pointer, {.type = product_.type}};
    if (product_.windows) {
      const int64_t channels = channels_of(*product_.windows);
      made.map.dims = {channels, product_.depth / channels, product_.columns * product_.item_count()};
      made.map.strides = {channels, product_.right.along};
      made.map.box = {step_of(product_), 1, moved_columns()};
    } else {
      made.map.dims = {product_.depth, product_.columns, right_items()};
      made.map.strides = {product_.right.along, item_stride(product_.right, product_.columns)};
      made.map.box = {step_of(product_), moved_columns(), 1};
    }
    return made;
  }
  static bool differs(const TileOperand& operand) {
    return std::ranges::any_of(operand.items, [](int64_t stride) { return stride != 0; });
  }
  int64_t left_items() const { return differs(product_.left) ? product_.item_count() : 1; }
  int64_t right_items() const { return differs(product_.right) ? product_.item_count() : 1; }
  static int64_t item_stride(const TileOperand& operand, int64_t rows) {
    return differs(operand) ? operand.items[0] : operand.along * rows;
  }

  std::string settings_text() const {
    std::string made = fmt::format("typedef {} T;\n", element_type(product_.type));
    const auto set = [&](std::string_view name, int64_t value) { made += fmt::format("#define {} {}\n", name, value); };
    set("kStep", step_of(product_));
    set("kPromotes", is_float8(product_) ? 1 : 0);
    set("kRows", shape_.rows);
    set("kColumns", shape_.columns);
    set("kBlocks", shape_.rows / kGroupRows / sharing());
    set("kIsApart", shape_.is_apart ? 1 : 0);
    set("kIsPaired", shape_.is_paired ? 1 : 0);
    set("kMovers", movers());
    set("kSharesRegisters", shares_registers() ? 1 : 0);
    set("kStages", stages());
    set("kSplits", shape_.splits);
    set("kResident", resident());
    set("kIsLong", shape_.is_long ? 1 : 0);
    if (shape_.is_long) {
      set("kPairs", pairs() ? 1 : 0);
      set("kIsByColumn", slotted().is_by_column(product_.columns) ? 1 : 0);
      set("kSlots", slots());
      set("kRing", ring());
      set("kSlotStride", slot_stride());
      set("kSlotPlace", slot_place());
    } else {
      set("kMostEarly", 8);
    }
    set("kBarrierPlace", barrier_place());
    set("kOwnPlace", own_place());
    set("kIsWindow", product_.windows ? 1 : 0);
    set("kTapsX", product_.windows ? product_.windows->kernel_width : 1);
    set("kLeftItems", left_items() > 1 ? 1 : 0);
    set("kRightItems", right_items() > 1 ? 1 : 0);
    set("kRightIsConstant", product_.right.pointer.kind == Pointer::Kind::fixed ? 1 : 0);
    return made;
  }

  // `Work`, and `work_of`, which is told what the kernel is.
  std::string work_text(Launch& launch) const {
    std::string members, made;
    const auto number = [&](std::string_view name, int64_t value) {
      members += fmt::format("  int {};\n", name);
      made += fmt::format("  work.{} = p.n[{}];\n", name, launch.numbers.size());
      launch.add(value);
    };
    const auto divisor = [&](std::string_view name, int64_t value) {
      members += fmt::format("  Divisor {};\n", name);
      made += fmt::format("  work.{} = DIVISOR({});\n", name, launch.numbers.size());
      launch.add_divisor(value);
    };
    number("rows", product_.rows);
    number("columns", product_.columns);
    number("items", product_.item_count());
    number("row_tiles", row_tiles());
    number("column_tiles", column_tiles());
    constexpr ConvGeometry kNoWindows{.out_height = 1, .out_width = 1};
    const ConvGeometry& g = product_.windows ? *product_.windows : kNoWindows;
    number("depth", product_.windows ? channels_of(g) : product_.depth);  // of a tap
    number("taps", product_.windows ? g.kernel_height * g.kernel_width : 1);
    divisor("by_pixels", g.out_height * g.out_width);
    divisor("by_width", g.out_width);
    for_places_of_windows(g, number);
    const std::string row = product_.windows ? "m * work.items + item" : "item * work.rows + m";
    return fmt::format(
        "struct Work {{\n{}}};\nDEVICE Work work_of(const Params& p) {{\n  Work work;\n{}  return work;\n}}\n"
        "DEVICE int row_of(const Work& work, int item, int m) {{ return {}; }}\n",
        members, made, row);
  }

  // `multiply_group(sums, left, right, adds)`.
  std::string multiply_text() const {
    const bool is_of_halves = is_half(product_.type);
    const std::string_view type = is_float8(product_)                       ? "e4m3"
                                  : !is_of_halves                           ? "tf32"
                                  : product_.type == tensor::DType::float16 ? "f16"
                                                                            : "bf16";
    const int sums = shape_.columns / 2;
    std::string places, bound;
    for (int i = 0; i < sums; ++i) {
      places += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
      bound += fmt::format("{}\"+f\"(sums[{}])", i == 0 ? "" : ", ", i);
    }
    return fmt::format(
        "DEVICE void multiply_group(float* sums, Operand left, Operand right, bool adds) {{\n"
        "#ifdef ASSAY_HOST_MACHINE\n  multiply_group(sums, kColumns, left, right, adds, (const T*)nullptr);\n#else\n"
        "  asm volatile(\"{{\\n\\t.reg .pred p;\\n\\tsetp.ne.b32 p, %{5}, 0;\\n\\t\"\n"
        "      \"wgmma.mma_async.sync.aligned.m64n{0}k{7}.f32.{1}.{1} {{{2}}}, %{3}, %{4}, p, 1, 1{8};\\n\\t}}\"\n"
        "      : {6}\n      : \"l\"(left), \"l\"(right), \"r\"(adds ? 1 : 0));\n#endif\n}}\n",
        shape_.columns, type, places, sums, sums + 1, sums + 2, bound, step_of(product_) / 4,
        is_of_halves ? ", 0, 0" : "");
  }

  const TileProduct& product_;
  TileShape shape_;
  ElementSite site_;
};

// True if windows lie within what maps can say.
bool can_map(const ConvGeometry& g) {
  constexpr int64_t kMostStride = 8, kMostOffset = 255;
  const auto fits = [](int64_t pad, int64_t results, int64_t stride, int64_t pixels, int64_t kernel, int64_t dilation) {
    const int64_t last = (results - 1) * stride - pad - (pixels - 1);
    return pad >= 0 && pad <= 128 && last >= -128 && last <= 127 && stride <= kMostStride &&
           (kernel - 1) * dilation <= kMostOffset;
  };
  return fits(g.pad_left, g.out_width, g.stride_x, g.width, g.kernel_width, g.dilation_x) &&
         fits(g.pad_top, g.out_height, g.stride_y, g.height, g.kernel_height, g.dilation_y);
}

// True if rows or columns of an operand follow each other in memory, and items are the same or do likewise.
bool goes_on(const TileOperand& operand) {
  return operand.along > 0 && std::ranges::all_of(operand.items, [](int64_t stride) { return stride >= 0; });
}

bool can_stream(const TileProduct& product, bool permits_tf32) {
  const int64_t step = step_of(product), least_channels = step * 3 / 8;  // with fewer, most of a step would be zeros
  const bool lies_well = left_packs(product) && packs(product, product.right) && product.items.size() <= 1;
  const bool is_multiplied = is_half(product.type) || is_float8(product) || (is_float(product) && permits_tf32);
  if (!is_multiplied || product.codes || !lies_well) return false;
  if (!product.windows) return product.depth >= step / 2 && goes_on(product.left) && goes_on(product.right);
  const int64_t channels = channels_of(*product.windows);
  const bool is_whole = channels % step == 0;
  return (is_whole || (product.windows->groups == 1 && channels >= least_channels)) && can_map(*product.windows);
}

struct Form {
  int rows, columns;
  bool is_apart = false, is_paired = false;
};
constexpr std::array kLongForms = {Form{128, 256},
                                   Form{128, 192},
                                   Form{128, 64},
                                   Form{128, 128, true},
                                   Form{64, 256, true},
                                   Form{128, 256, false, true},
                                   Form{128, 128, true, true}};
constexpr std::array kShortForms = {Form{128, 64}, Form{64, 64}, Form{64, 32}};
// For float8, whose sums take twice as many registers.
constexpr std::array kLongFormsOfFloat8 = {Form{128, 128}, Form{128, 64}};
constexpr int kMostSplits = 8;

// Cycles that a product takes in a chain of others on an H200, by which the first choice of a shape is made.
double cost_of(const TileProduct& product, const TileShape& shape, int processors) {
  constexpr double kStart = 2900;  // until the first operands are there, and behind the last result
  constexpr double kLate = 800;    // of a launch that cannot begin early
  const auto results = static_cast<double>(shape.rows * shape.columns);
  const int64_t steps = steps_of(product), tiles = row_tiles_of(product, shape) *
                                                   tiles_along(product.columns, shape.columns) * product.item_count();
  const int64_t resident = resident_blocks(shape), blocks = tiles * shape.splits;
  const auto turns = static_cast<double>(tiles_along(blocks, processors * resident));
  if (shape.is_long) {
    // The share of what the instructions could do; narrow tiles read the rows once for each of theirs.
    const double speed = shape.columns > 64 ? 0.85 : product.columns > 64 && steps > 1 ? 0.2 : 0.42;
    const double multiply = static_cast<double>(steps) * results / 32 / speed + 300;
    if (!shape.is_apart) return kStart + turns * (static_cast<double>(resident) * multiply + 0.45 * results);
    const double finish = 0.7 * results;
    return kStart + turns * std::max(multiply, (multiply + finish) / 2) + finish;
  }
  const double wait = turns > 1 ? 250 : 80;  // for operands of a step, which many blocks ask for at once
  const double multiply = static_cast<double>(tiles_along(steps, shape.splits)) * (wait + 0.03 * results);
  const double join = shape.splits > 1 ? 700 + 300 * shape.splits : 0;
  const double each = multiply + 0.15 * results / shape.splits + join;
  const bool is_alone = blocks <= processors;  // on its processor
  if (is_alone) return kStart + turns * each;
  const double crowded = turns > 4 ? 4 : turns > 2 ? 1.9 : 1.7;  // times as long, beside other blocks
  return kStart + kLate + turns * each * crowded;
}

}  // namespace

std::vector<TileShape> stream_shapes(const TileProduct& product, bool permits_tf32, const Card& card) {
  constexpr int kStreams = 90;  // the capability that has them
  if (card.capability() != kStreams || !can_stream(product, permits_tf32)) return {};
  std::vector<TileShape> shapes;
  for (const Form& form : is_float8(product) ? std::span<const Form>(kLongFormsOfFloat8) : kLongForms) {
    shapes.push_back({.rows = form.rows,
                      .columns = form.columns,
                      .is_streamed = true,
                      .is_long = true,
                      .is_apart = form.is_apart,
                      .is_paired = form.is_paired});
  }
  for (const Form& form : kShortForms) {
    for (int splits = 1; splits <= kMostSplits && splits <= steps_of(product); splits *= 2) {
      shapes.push_back({.rows = form.rows, .columns = form.columns, .splits = splits, .is_streamed = true});
    }
  }
  // Pairs take 1 to 3% less in single large products, and no less in whole networks.
  constexpr double kOfPair = 1.01;
  const auto cost = [&](const TileShape& shape) {
    return cost_of(product, shape, card.multiprocessors()) * (shape.is_paired ? kOfPair : 1);
  };
  std::ranges::stable_sort(shapes, {}, cost);
  return shapes;
}

Launch stream_launch(Programs& programs, const TileProduct& product, const TileShape& shape, ElementSite site) {
  return StreamWriter(product, shape, std::move(site)).write(programs);
}

}  // namespace assay::engine::cuda
