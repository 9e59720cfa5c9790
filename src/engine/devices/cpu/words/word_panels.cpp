#include "engine/devices/cpu/words/word_panels.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/devices/cpu/parts.h"

namespace assay::engine::cpu {
namespace {

constexpr size_t kWordBytes = 4;

// One panel, from numbers whose bits are T.
template <typename T, int64_t kEach>
void pack_panel(const WordPanels& panels, int64_t first, const T* from, uint32_t* row) {
  const int64_t count = std::min(panels.width, panels.columns - first);
  const int64_t whole = rounded_up(count, panels.unit);
  for (int64_t step = 0; step < panels.steps; ++step) {
    for (int64_t k = 0; k < panels.depth; k += kEach, row += whole) {
      const T* const numbers =
          from + step * panels.step_stride + k * panels.depth_stride + first * panels.column_stride;
      for (int64_t c = 0; c < count; ++c) {
        row[c] = numbers[c * panels.column_stride];
        if constexpr (kEach == 2) row[c] |= uint32_t{numbers[c * panels.column_stride + panels.depth_stride]} << 16;
      }
      std::fill(row + count, row + whole, 0U);
    }
  }
}

}  // namespace

uint64_t WordPanels::bytes() const { return static_cast<uint64_t>(rows() * rounded_up(columns, unit)) * kWordBytes; }

void WordPanels::pack(const tensor::Tensor& weights, std::byte* bytes) const {
  const auto count = static_cast<uint64_t>((columns + width - 1) / width);
  parallel_for(count, 1, [&](uint64_t begin, uint64_t end) {
    for (auto panel = static_cast<int64_t>(begin); panel < static_cast<int64_t>(end); ++panel) {
      const int64_t first = panel * width;
      auto* const to = reinterpret_cast<uint32_t*>(bytes) + first * rows();
      const std::byte* const from = weights.bytes().data();
      if (numbers_of_word(dtype) == 1)
        pack_panel<uint32_t, 1>(*this, first, reinterpret_cast<const uint32_t*>(from), to);
      else
        pack_panel<uint16_t, 2>(*this, first, reinterpret_cast<const uint16_t*>(from), to);
    }
  });
}

}  // namespace assay::engine::cpu
