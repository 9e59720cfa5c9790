#include "engine/devices/cpu/words/word_panels.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/devices/cpu/parts.h"

namespace assay::engine::cpu {
namespace {

// One panel, from numbers whose bits are T.
template <typename Word, typename T>
void pack_panel(const WordPanels& panels, int64_t first, const std::byte* weights, std::byte* to) {
  const auto* const from = reinterpret_cast<const T*>(weights) + panels.first_constant;
  auto* row = reinterpret_cast<Word*>(to);
  constexpr int64_t kWordBytes = sizeof(Word), kNumberBytes = sizeof(T);
  constexpr int64_t kEach = kWordBytes / kNumberBytes;
  const int64_t count = std::min(panels.width, panels.columns - first);
  const int64_t whole = rounded_up(count, panels.unit);
  for (int64_t step = 0; step < panels.steps; step += panels.joined) {
    for (int64_t k = 0; k < panels.joined * panels.depth; k += kEach, row += whole) {
      std::fill_n(row, whole, Word{0});
      for (int64_t i = k; i < std::min(k + kEach, panels.joined * panels.depth); ++i) {
        if (i % panels.depth >= panels.depth - panels.zeros) continue;
        const T* const numbers = from + (step + i / panels.depth) * panels.step_stride +
                                 i % panels.depth * panels.depth_stride + first * panels.column_stride;
        const auto shift = static_cast<uint32_t>((i - k) * 8 * kNumberBytes);
        for (int64_t c = 0; c < count; ++c)
          row[c] |= static_cast<Word>(Word{numbers[c * panels.column_stride]} << shift);
      }
    }
  }
}

}  // namespace

int64_t WordPanels::rows() const { return steps / joined * parts_of(joined * depth, numbers()); }

uint64_t WordPanels::bytes() const { return static_cast<uint64_t>(rows() * rounded_up(columns, unit) * word_bytes()); }

void WordPanels::pack(const tensor::Tensor& weights, std::byte* bytes) const {
  const auto count = static_cast<uint64_t>((columns + width - 1) / width);
  const auto pack = are_pairs        ? &pack_panel<uint16_t, uint8_t>
                    : numbers() == 1 ? &pack_panel<uint32_t, uint32_t>
                    : numbers() == 2 ? &pack_panel<uint32_t, uint16_t>
                                     : &pack_panel<uint32_t, uint8_t>;
  parallel_for(count, 1, [&](uint64_t begin, uint64_t end) {
    for (auto panel = static_cast<int64_t>(begin); panel < static_cast<int64_t>(end); ++panel) {
      const int64_t first = panel * width;
      pack(*this, first, weights.bytes().data(), bytes + first * rows() * word_bytes());
    }
  });
}

}  // namespace assay::engine::cpu
