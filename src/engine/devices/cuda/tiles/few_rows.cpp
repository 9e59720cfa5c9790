#include "engine/devices/cuda/tiles/few_rows.h"

#include <algorithm>
#include <cmath>

#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/text/texts.h"

namespace assay::engine::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr int64_t kWarps = kThreads / 32;
constexpr int64_t kUnit = 8;  // columns

int64_t bytes_of_scale(const CompressedOperand& codes) { return codes.are_scales_halves ? 2 : 4; }

struct Steps {
  int64_t depth = 0;         // of one
  int64_t column_bytes = 0;  // of one, with room behind them
  int64_t stage_bytes = 0;   // of a warp
  int64_t blocks = 0;        // of a processor: codes take little memory, and more time than it takes to read them
};

Steps steps_of(const FewRows& product) {
  constexpr int64_t kRoom = 16, kElementDepth = 128, kCodeBytes = 128;
  if (!product.codes) {
    constexpr int64_t kColumn = kElementDepth * 2 + kRoom;
    return {.depth = kElementDepth, .column_bytes = kColumn, .stage_bytes = kUnit * kColumn, .blocks = 2};
  }
  const int64_t depth = kCodeBytes * 8 / product.codes->bits;
  const int64_t scale_bytes = depth / product.codes->block * bytes_of_scale(*product.codes);
  constexpr int64_t kColumn = kCodeBytes + kRoom;
  return {.depth = depth, .column_bytes = kColumn, .stage_bytes = kUnit * (kColumn + scale_bytes), .blocks = 4};
}

// The fewest warps that share a depth and leave each group of them several units: sums that are shared must be joined.
int64_t slices_of(const FewRows& product, int64_t units, int64_t blocks) {
  constexpr int64_t kLeastTurns = 4;
  const int64_t most = product.is_gated ? kWarps / 2 : kWarps;  // both halves in one block
  int64_t slices = 1;
  while (slices < most && units * slices < kLeastTurns * blocks * kWarps) slices *= 2;
  return slices;
}

int64_t parts_of(int64_t size, int64_t part) { return (size + part - 1) / part; }

struct Sizes {
  int64_t blocks = 0;
  int64_t slices = 0;
  int64_t stages = 0;  // no more than a warp has steps
  int64_t left_depth = 0, left_row = 0, left_bytes = 0, shared_bytes = 0;
  Steps steps = {};
};

Sizes sizes_of(const FewRows& product, int64_t processors) {
  constexpr int64_t kMostStages = 4, kPad = 32;
  const Steps steps = steps_of(product);
  const int64_t halves = product.is_gated ? 2 : 1;
  const int64_t units = parts_of(product.columns / halves, kUnit) * halves;
  // One more block for each processor where each unit has one then.
  const bool has_one_more = units > steps.blocks * processors && units <= (steps.blocks + 1) * processors;
  const int64_t most_blocks = (steps.blocks + (has_one_more ? 1 : 0)) * processors;
  Sizes sizes{.slices = slices_of(product, units, most_blocks), .steps = steps};
  const int64_t together = kWarps / sizes.slices, depth_steps = parts_of(product.depth, steps.depth);
  sizes.blocks = std::min(most_blocks, parts_of(units, together));
  const int64_t turns = parts_of(units, sizes.blocks * together);
  sizes.stages = std::min(turns * parts_of(depth_steps, sizes.slices), kMostStages);
  sizes.left_depth = depth_steps * steps.depth;
  sizes.left_row = sizes.left_depth + kPad;
  sizes.left_bytes = product.rows * sizes.left_row * 2;
  const int64_t joined_bytes = 2 * kWarps * product.rows * kUnit * int64_t{sizeof(float)};
  sizes.shared_bytes = sizes.left_bytes + kWarps * sizes.stages * steps.stage_bytes + joined_bytes;
  return sizes;
}

bool suits(const FewRows& product) {
  constexpr float kMostZero = 255;
  const CompressedOperand& codes = *product.codes;
  const int64_t depth = steps_of(product).depth, scale_bytes = bytes_of_scale(codes);
  const bool fills_blocks = codes.unit == 32 && depth % codes.block == 0 && codes.depth % codes.block == 0;
  const bool has_even_scales =
      fills_blocks && depth / codes.block * scale_bytes % 4 == 0 && codes.blocks * scale_bytes % 4 == 0;
  const bool has_plain_zero =
      !codes.has_zeros && codes.zero == std::floor(codes.zero) && codes.zero >= 0 && codes.zero <= kMostZero;
  return has_even_scales && has_plain_zero;
}

int64_t packs_of(int64_t depth) { return depth / 8; }

void write_norm(const FewRows& product, const Sizes& sizes, KernelWriter& writer) {
  writer.constant("kIsNormed", product.norm ? 1 : 0);
  if (!product.norm) {
    writer.number("kStepPacks", packs_of(sizes.left_depth));
    return;
  }
  const RowNorm& norm = *product.norm;
  writer.constant("kDepthPacks", packs_of(product.depth));
  writer.constant("kStepPacks", packs_of(sizes.left_depth));
  writer.constant("kIsRms", norm.is_rms ? 1 : 0);
  writer.constant("kIsNear", norm.is_near ? 1 : 0);
  writer.real("kEpsilon", norm.epsilon);
  writer.real("kShare", 1.0F / static_cast<float>(product.depth));
  const auto write = [&](std::string_view name, const RowNorm::Factors& factors) {
    const bool is_there = factors.type != tensor::DType::undefined;
    writer.constant(fmt::format("kHas{}", name), is_there ? 1 : 0);
    writer.type(name, is_there ? factors.type : product.type);
    writer.pointer(fmt::format("k{}", name), fmt::format("const {}", name), factors.pointer);
  };
  write("Scale", norm.scale);
  write("Shift", norm.shift);
}

// True if each thread has registers for its elements of all rows.
bool can_normalise(const FewRows& product) {
  constexpr int64_t kMostPacks = 8;
  const Steps steps = steps_of(product);
  const int64_t packs = packs_of(parts_of(product.depth, steps.depth) * steps.depth);
  return product.rows * parts_of(packs, kThreads) <= kMostPacks;
}

}  // namespace

std::optional<FewRows> few_rows_of(const TileProduct& product) {
  const bool is_plain = product.item_count() == 1 && !product.windows && !product.spread && product.left.depth == 1 &&
                        product.right.depth == 1 && product.right.along > 0;
  if (!is_plain) return std::nullopt;
  return FewRows{.type = product.type,
                 .rows = product.rows,
                 .columns = product.columns,
                 .depth = product.depth,
                 .left = product.left.pointer,
                 .left_row = product.left.along,
                 .right = product.right.pointer,
                 .right_column = product.right.along};
}

FewRows few_rows_of(const CompressedLayer& layer) {
  const CompressedProduct& product = layer.form.product;
  return {.type = product.dtype,
          .rows = layer.rows,
          .columns = product.columns,
          .depth = product.depth,
          .left = input_pointer(layer.data),
          .left_row = product.depth,
          .right = {}};
}

bool suits_few_rows(const FewRows& product) {
  constexpr int64_t kPack = 8;
  const bool is_half = product.type == tensor::DType::float16;
  if (product.rows > FewRows::kMostRows || product.depth % kPack != 0) return false;
  if (product.norm && !can_normalise(product)) return false;
  if (product.codes) return is_half && suits(product);
  return (is_half || product.type == tensor::DType::bfloat16) && product.right_column % kPack == 0;
}

std::optional<Launch> few_rows_launch(Programs& programs, const FewRows& product, ElementSite site) {
  const Sizes sizes = sizes_of(product, programs.card().multiprocessors());
  if (sizes.shared_bytes > programs.card().shared_bytes()) return std::nullopt;
  KernelWriter writer;
  writer.launch().shared_bytes = static_cast<unsigned>(sizes.shared_bytes);
  writer.type("T", product.type);
  writer.pointer("kLeft", "const T", product.left);
  writer.number("kLeftRow", product.left_row);
  writer.number("kLeftStride", sizes.left_row / 2);
  writer.number("kLeftBytes", sizes.left_bytes);
  writer.number("kColumns", product.columns);
  writer.number("kDepth", product.depth);
  writer.constant("kRows", product.rows);
  writer.constant("kSlices", sizes.slices);
  writer.constant("kStages", sizes.stages);
  writer.constant("kStepDepth", sizes.steps.depth);
  writer.constant("kColumnBytes", sizes.steps.column_bytes);
  writer.constant("kStageBytes", sizes.steps.stage_bytes);
  writer.constant("kIsGated", product.is_gated ? 1 : 0);
  write_norm(product, sizes, writer);
  writer.constant("kIsOfCodes", product.codes ? 1 : 0);
  if (product.codes) {
    writer.constant("kBlock", product.codes->block);
    writer.text(codes_text(*product.codes, writer.launch()));
  } else {
    writer.pointer("kRight", "const T", product.right);
    writer.number("kRightColumn", product.right_column);
  }
  writer.text(product.is_gated ? gated_finish_text(std::move(site), writer.launch())
                               : finish_text(std::move(site), writer.launch()));
  Launch launch = writer.finish(programs, kThreads, sizes.blocks, few_rows_text());
  launch.begins_early = true;
  return launch;
}

}  // namespace assay::engine::cuda
