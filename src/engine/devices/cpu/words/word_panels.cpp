#include "engine/devices/cpu/words/word_panels.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/devices/cpu/parts.h"

namespace assay::engine::cpu {
namespace {

constexpr size_t kWordBytes = 4;

// One panel, from numbers whose bits are T, as Bits in words.
template <typename T, typename Bits = T>
void pack_panel(const WordPanels& panels, int64_t first, const T* from, uint32_t* row) {
  constexpr int64_t kEach = kWordBytes / sizeof(Bits);
  const int64_t count = std::min(panels.width, panels.columns - first);
  const int64_t whole = rounded_up(count, panels.unit);
  for (int64_t step = 0; step < panels.steps; step += panels.joined) {
    for (int64_t k = 0; k < panels.joined * panels.depth; k += kEach, row += whole) {
      std::fill_n(row, whole, 0U);
      for (int64_t i = k; i < std::min(k + kEach, panels.joined * panels.depth); ++i) {
        const T* const numbers = from + (step + i / panels.depth) * panels.step_stride +
                                 i % panels.depth * panels.depth_stride + first * panels.column_stride;
        const auto shift = static_cast<uint32_t>(static_cast<size_t>(i - k) * 8 * sizeof(Bits));
        for (int64_t c = 0; c < count; ++c)
          row[c] |= uint32_t{static_cast<Bits>(numbers[c * panels.column_stride])} << shift;
      }
    }
  }
}

}  // namespace

int64_t WordPanels::rows() const { return steps / joined * parts_of(joined * depth, numbers()); }

uint64_t WordPanels::bytes() const { return static_cast<uint64_t>(rows() * rounded_up(columns, unit)) * kWordBytes; }

void WordPanels::pack(const tensor::Tensor& weights, std::byte* bytes) const {
  const auto count = static_cast<uint64_t>((columns + width - 1) / width);
  parallel_for(count, 1, [&](uint64_t begin, uint64_t end) {
    for (auto panel = static_cast<int64_t>(begin); panel < static_cast<int64_t>(end); ++panel) {
      const int64_t first = panel * width;
      auto* const to = reinterpret_cast<uint32_t*>(bytes) + first * rows();
      const std::byte* const from = weights.bytes().data();
      const int64_t each = numbers();
      if (widens) pack_panel<int8_t, uint16_t>(*this, first, reinterpret_cast<const int8_t*>(from), to);
      if (each == 1) pack_panel(*this, first, reinterpret_cast<const uint32_t*>(from), to);
      if (each == 2 && !widens) pack_panel(*this, first, reinterpret_cast<const uint16_t*>(from), to);
      if (each == 4) pack_panel(*this, first, reinterpret_cast<const uint8_t*>(from), to);
    }
  });
}

}  // namespace assay::engine::cpu
