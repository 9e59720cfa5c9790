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

// Sizes that the text computes, too.
struct Steps {
  int64_t depth = 0;        // of one
  int64_t stage_bytes = 0;  // of a warp
  int64_t blocks = 0;       // of a processor: codes take little memory, and more time than it takes to read them
};

Steps steps_of(const FewRows& product) {
  constexpr int64_t kBitsOfColumn = 1024, kCodeBytes = 144;
  if (product.codes == nullptr) return {.depth = 128, .stage_bytes = kUnit * 272, .blocks = 2};
  const int64_t depth = kBitsOfColumn / product.codes->bits;
  const int64_t scale_bytes = depth / product.codes->block * (product.codes->are_scales_halves ? 2 : 4);
  return {.depth = depth, .stage_bytes = kUnit * (kCodeBytes + scale_bytes), .blocks = 4};
}

// The fewest warps that share a depth and leave each group of them several units: sums that are shared must be joined.
int64_t slices_of(int64_t units, int64_t blocks) {
  constexpr int64_t kLeastTurns = 4;
  int64_t slices = 1;
  while (slices < kWarps && units * slices < kLeastTurns * blocks * kWarps) slices *= 2;
  return slices;
}

bool suits(const CompressedOperand& codes) {
  constexpr float kMostZero = 255;
  const int64_t depth = 1024 / codes.bits, scale_bytes = codes.are_scales_halves ? 2 : 4;
  const bool fills_blocks = codes.unit == 32 && depth % codes.block == 0 && codes.depth % codes.block == 0;
  const bool has_even_scales =
      fills_blocks && depth / codes.block * scale_bytes % 4 == 0 && codes.blocks * scale_bytes % 4 == 0;
  const bool has_plain_zero =
      !codes.has_zeros && codes.zero == std::floor(codes.zero) && codes.zero >= 0 && codes.zero <= kMostZero;
  return has_even_scales && has_plain_zero;
}

}  // namespace

bool suits_few_rows(const FewRows& product) {
  constexpr int64_t kPack = 8;
  const bool is_half = product.type == tensor::DType::float16;
  if (product.rows > FewRows::kMostRows || product.depth % kPack != 0) return false;
  if (product.codes != nullptr) return is_half && suits(*product.codes);
  return (is_half || product.type == tensor::DType::bfloat16) && product.right_column % kPack == 0;
}

std::optional<Launch> few_rows_launch(Programs& programs, const FewRows& product, ElementSite site) {
  constexpr int64_t kStages = 4, kPad = 32;
  const Steps steps = steps_of(product);
  const int64_t units = (product.columns + kUnit - 1) / kUnit;
  const int64_t most_blocks = steps.blocks * programs.card().multiprocessors();
  const int64_t slices = slices_of(units, most_blocks), together = kWarps / slices;
  const int64_t left_row = (product.depth + steps.depth - 1) / steps.depth * steps.depth + kPad;
  const int64_t left_bytes = product.rows * left_row * 2;
  const int64_t joined_bytes = 2 * kWarps * product.rows * kUnit * int64_t{sizeof(float)};
  const int64_t shared_bytes = left_bytes + kWarps * kStages * steps.stage_bytes + joined_bytes;
  if (shared_bytes > programs.card().shared_bytes()) return std::nullopt;
  KernelWriter writer;
  writer.launch().shared_bytes = static_cast<unsigned>(shared_bytes);
  writer.type("T", product.type);
  writer.pointer("kLeft", "const T", product.left);
  writer.number("kLeftRow", product.left_row);
  writer.number("kLeftStride", left_row / 2);
  writer.number("kLeftBytes", left_bytes);
  writer.number("kColumns", product.columns);
  writer.number("kDepth", product.depth);
  writer.constant("kRows", product.rows);
  writer.constant("kSlices", slices);
  writer.constant("kStages", kStages);
  writer.constant("kIsOfCodes", product.codes != nullptr ? 1 : 0);
  if (product.codes != nullptr) {
    writer.constant("kBlock", product.codes->block);
    writer.text(codes_text(*product.codes, writer.launch()));
  } else {
    writer.pointer("kRight", "const T", product.right);
    writer.number("kRightColumn", product.right_column);
  }
  writer.text(finish_text(std::move(site), writer.launch()));
  const int64_t blocks = std::min(most_blocks, (units + together - 1) / together);
  Launch launch = writer.finish(programs, kThreads, blocks, few_rows_text());
  launch.begins_early = true;
  return launch;
}

}  // namespace assay::engine::cuda
