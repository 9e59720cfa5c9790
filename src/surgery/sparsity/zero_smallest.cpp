#include "surgery/sparsity/zero_smallest.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/parallel.h"

namespace assay::surgery {
namespace {

constexpr size_t kGroup = 4;
constexpr size_t kBlock = 64;  // loops of a fixed length are what the compiler vectorises at -O2
constexpr uint64_t kGrain = 256;

// All ones where the element is among the two smallest: where at most one other comes before it.
template <typename T>
T keep_mask(bool a, bool b, bool c) {
  return static_cast<T>(-static_cast<T>(static_cast<T>(a) + static_cast<T>(b) + static_cast<T>(c) >= 2));
}

template <typename T>
void zero_in_block(T (&rows)[kGroup][kBlock]) {
  constexpr T magnitude = static_cast<T>(~T{0}) >> 1;
  for (size_t i = 0; i < kBlock; ++i) {
    const T a = rows[0][i] & magnitude;
    const T b = rows[1][i] & magnitude;
    const T c = rows[2][i] & magnitude;
    const T d = rows[3][i] & magnitude;
    rows[0][i] &= keep_mask<T>(b < a, c < a, d < a);
    rows[1][i] &= keep_mask<T>(a <= b, c < b, d < b);
    rows[2][i] &= keep_mask<T>(a <= c, b <= c, d < c);
    rows[3][i] &= keep_mask<T>(a <= d, b <= d, c <= d);
  }
}

template <typename T>
class Zeroing {
 public:
  Zeroing(tensor::Bytes from, const ops::AxisView& view, std::span<std::byte> to) : from_(from), view_(view), to_(to) {}

  void run() {
    const uint64_t rows = view_.outer * (view_.length / kGroup);
    if (view_.inner == 1) {
      const uint64_t blocks = (rows + kBlock - 1) / kBlock;
      parallel_for(blocks, kGrain, [&](uint64_t begin, uint64_t end) {
        for (uint64_t i = begin; i < end; ++i) adjacent(i * kBlock, std::min<uint64_t>(kBlock, rows - i * kBlock));
      });
      return;
    }
    const uint64_t per_row = (view_.inner + kBlock - 1) / kBlock;
    parallel_for(rows * per_row, kGrain, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) {
        const uint64_t column = i % per_row * kBlock;
        columns(i / per_row * kGroup * view_.inner + column, std::min<uint64_t>(kBlock, view_.inner - column));
      }
    });
  }

 private:
  // Group i: the elements first+i, first+i+inner, …
  void columns(uint64_t first, size_t count) const {
    T rows[kGroup][kBlock] = {};
    for (size_t k = 0; k < kGroup; ++k) load(first + k * view_.inner, rows[k], count);
    zero_in_block(rows);
    for (size_t k = 0; k < kGroup; ++k) store(rows[k], first + k * view_.inner, count);
  }

  // Group i: the elements 4i, 4i+1, …
  void adjacent(uint64_t group, size_t count) const {
    T items[kGroup * kBlock] = {};
    T rows[kGroup][kBlock];
    load(group * kGroup, items, count * kGroup);
    for (size_t i = 0; i < kBlock; ++i) {
      for (size_t k = 0; k < kGroup; ++k) rows[k][i] = items[i * kGroup + k];
    }
    zero_in_block(rows);
    for (size_t i = 0; i < kBlock; ++i) {
      for (size_t k = 0; k < kGroup; ++k) items[i * kGroup + k] = rows[k][i];
    }
    store(items, group * kGroup, count * kGroup);
  }

  void load(uint64_t first, T* to, size_t count) const {
    std::memcpy(to, from_.data() + first * sizeof(T), count * sizeof(T));
  }
  void store(const T* from, uint64_t first, size_t count) const {
    std::memcpy(to_.data() + first * sizeof(T), from, count * sizeof(T));
  }

  tensor::Bytes from_;
  const ops::AxisView& view_;
  std::span<std::byte> to_;
};

}  // namespace

void zero_smallest(tensor::Bytes from, const ops::AxisView& view, uint32_t width, std::span<std::byte> to) {
  ASSAY_CHECK(from.size() >= view.outer * view.length * view.inner * width && to.size() <= from.size());
  if (width == 2) return Zeroing<uint16_t>(from, view, to).run();
  ASSAY_CHECK(width == 4);
  Zeroing<uint32_t>(from, view, to).run();
}

}  // namespace assay::surgery
