#include "engine/devices/cpu/panels/amx_panels.h"

#include "engine/devices/cpu/amx.h"
#include "engine/devices/cpu/processor.h"

namespace assay::engine::cpu {
namespace {

#if defined(__x86_64__)

constexpr size_t kHighRows = 2 * amx::kRows;

template <bool kIsHigh>
void multiply(const PanelRows& rows, size_t row, size_t depth, const float* panel, int64_t panel_row) {
  using amx::kPanelTile;
  using amx::kRowTile;
  constexpr auto kPairs = amx::Words::pairs;
  constexpr int64_t kBytes = sizeof(float);
  const float* left = rows.left + static_cast<int64_t>(row) * rows.left_row;
  const float* const below = left + static_cast<int64_t>(amx::kRows) * rows.left_row;
  float* const out = rows.out + static_cast<int64_t>(row) * rows.out_row;
  const amx::Sums<kIsHigh, true> sums{out, out + static_cast<int64_t>(amx::kRows) * rows.out_row,
                                      rows.out_row * kBytes};
  rows.adds ? sums.read() : sums.start();
  for (size_t word = 0; word < depth; word += amx::kWords, panel += amx::kWords * static_cast<size_t>(panel_row)) {
    amx::load<kPanelTile>(panel, panel_row * kBytes);
    amx::load<kRowTile>(left + word, rows.left_row * kBytes);
    amx::load<kPanelTile + 1>(panel + amx::kWords, panel_row * kBytes);
    amx::multiply<kPairs, 0, kRowTile, kPanelTile>();
    amx::multiply<kPairs, 1, kRowTile, kPanelTile + 1>();
    if constexpr (kIsHigh) {
      amx::load<kRowTile + 1>(below + word, rows.left_row * kBytes);
      amx::multiply<kPairs, 2, kRowTile + 1, kPanelTile>();
      amx::multiply<kPairs, 3, kRowTile + 1, kPanelTile + 1>();
    }
  }
  sums.write();
}

#endif

}  // namespace

AmxPart multiply_on_tiles([[maybe_unused]] const PanelRows& rows, [[maybe_unused]] const float* panel,
                          [[maybe_unused]] int64_t panel_row) {
#if defined(__x86_64__)
  const AmxPart part{rows.rows / amx::kRows * amx::kRows, rows.depth / amx::kWords * amx::kWords};
  if (part.rows == 0 || part.depth == 0 || !has_amx_bf16()) return {};
  const amx::Tiles tiles(amx::kRows, amx::kWords);
  size_t row = 0;
  for (; row + kHighRows <= part.rows; row += kHighRows) multiply<true>(rows, row, part.depth, panel, panel_row);
  if (row < part.rows) multiply<false>(rows, row, part.depth, panel, panel_row);
  return part;
#else
  return {};
#endif
}

}  // namespace assay::engine::cpu
