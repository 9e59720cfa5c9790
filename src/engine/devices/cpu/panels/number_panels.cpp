#include "engine/devices/cpu/panels/number_panels.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

#include "base/parallel.h"
#include "engine/devices/cpu/panels/panel_kernels.h"
#include "engine/devices/cpu/rows/row_kernels.h"

namespace assay::engine::cpu {
namespace {

using Kind = NumberPanels::Kind;

constexpr int64_t kColumns = static_cast<int64_t>(kPanel);
constexpr uint64_t kPart = 1 << 12;  // numbers that are looked at together

bool are_bfloat16(const float* numbers, size_t count) {
  uint32_t lost = 0;
  for (size_t i = 0; i < count; ++i) lost |= std::bit_cast<uint32_t>(numbers[i]) & 0xFFFFU;
  return lost == 0;
}

bool are_float16(const float* numbers, size_t count) {
  constexpr uint32_t kExponent = 0x7C00;
  std::array<uint16_t, kPart> halves;
  std::array<float, kPart> widened;
  row_kernels().narrow_half(numbers, halves.data(), count);
  row_kernels().widen_half(halves.data(), widened.data(), count);
  bool are_exact = true;
  for (size_t i = 0; i < count; ++i) {
    const bool is_finite = (halves[i] & kExponent) != kExponent;
    are_exact = are_exact && is_finite && std::bit_cast<uint32_t>(widened[i]) == std::bit_cast<uint32_t>(numbers[i]);
  }
  return are_exact;
}

// True if a test holds for all parts of the constant; it ends at the first for which it does not.
template <typename Test>
bool holds(const tensor::Tensor& weights, Test test) {
  const auto* const numbers = reinterpret_cast<const float*>(weights.bytes().data());
  std::atomic<bool> holds = true;
  const uint64_t parts = (weights.count() + kPart - 1) / kPart;
  parallel_for(parts, 16, [&](uint64_t begin, uint64_t end) {
    for (uint64_t part = begin; part < end && holds.load(std::memory_order_relaxed); ++part) {
      const uint64_t first = part * kPart;
      if (!test(numbers + first, std::min(kPart, weights.count() - first))) holds = false;
    }
  });
  return holds;
}

Kind kind_of(const tensor::Tensor& weights) {
  if (weights.dtype() != tensor::DType::float32 || std::endian::native != std::endian::little) return Kind::words;
  if (holds(weights, are_bfloat16)) return Kind::bfloat16;
  return holds(weights, are_float16) ? Kind::float16 : Kind::words;
}

// Packs one panel, row by row.
void pack_halves(const ProductGeometry& g, const float* from, int64_t first, Kind kind, uint16_t* to) {
  const int64_t count = std::min(kColumns, g.columns - first);
  std::array<float, kPanel> row = {};
  for (int64_t k = 0; k < g.depth; ++k, to += kColumns) {
    for (int64_t c = 0; c < count; ++c)
      row[static_cast<size_t>(c)] = from[k * g.right_row + (first + c) * g.right_column];
    (kind == Kind::bfloat16 ? row_kernels().narrow : row_kernels().narrow_half)(row.data(), to, kPanel);
  }
}

std::string form_of(const ProductGeometry& g, Kind kind) {
  constexpr std::array<std::string_view, 3> kNames = {"", " bfloat16", " float16"};
  return fmt::format("panels {} {} {} {}{}", g.depth, g.columns, g.right_row, g.right_column,
                     kNames[static_cast<size_t>(kind)]);
}

}  // namespace

NumberPanels pack_panels(const Layer& layer, const ProductGeometry& g) {
  const tensor::Tensor& weights = *layer.constants[static_cast<size_t>(g.right)];
  constexpr std::array kKinds = {Kind::words, Kind::bfloat16, Kind::float16};
  const auto* const known =
      std::ranges::find_if(kKinds, [&](Kind kind) { return layer.packed->has(weights, form_of(g, kind)); });
  const Kind kind = known != kKinds.end() ? *known : kind_of(weights);
  if (kind == Kind::words) {
    const WordPanels panels{.dtype = weights.dtype(),
                            .depth = g.depth,
                            .columns = g.columns,
                            .depth_stride = g.right_row,
                            .column_stride = g.right_column,
                            .width = kColumns,
                            .unit = kColumns};
    return {kind, layer.packed->get(weights, form_of(g, kind), panels.bytes(),
                                    [&](std::byte* bytes) { panels.pack(weights, bytes); })};
  }
  const auto panels = static_cast<uint64_t>((g.columns + kColumns - 1) / kColumns);
  const uint64_t panel_bytes = static_cast<uint64_t>(g.depth) * kPanel * sizeof(uint16_t);
  const auto pack = [&](std::byte* bytes) {
    const auto* const from = reinterpret_cast<const float*>(weights.bytes().data());
    parallel_for(panels, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t panel = begin; panel < end; ++panel) {
        pack_halves(g, from, static_cast<int64_t>(panel) * kColumns, kind,
                    reinterpret_cast<uint16_t*>(bytes + panel * panel_bytes));
      }
    });
  };
  return {kind, layer.packed->get(weights, form_of(g, kind), panels * panel_bytes, pack)};
}

}  // namespace assay::engine::cpu
