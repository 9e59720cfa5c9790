#include "surgery/sparsity/scan.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace assay::surgery {
namespace {

constexpr size_t kGroup = 4;
constexpr size_t kBlock = 64;  // loops of a fixed length are what the compiler vectorises at -O2

template <typename T>
class Scan {
 public:
  Scan(tensor::Bytes bytes, const AxisView& view, const ZeroPattern& pattern)
      : bytes_(bytes), view_(view), mask_(static_cast<T>(pattern.mask)), zero_(static_cast<T>(pattern.zero)) {}

  SparsityCounts run() {
    const uint64_t rows = view_.outer * (view_.length / kGroup);
    if (view_.inner == 1) {
      scan_adjacent(rows);
      return counts_;
    }
    for (uint64_t row = 0; row < rows; ++row) {
      for (uint64_t i = 0; i < view_.inner; i += kBlock) {
        scan_columns(row * kGroup * view_.inner + i, std::min<uint64_t>(kBlock, view_.inner - i));
      }
    }
    return counts_;
  }

 private:
  T is_zero(T bits) const { return static_cast<T>(static_cast<T>(bits & mask_) == zero_); }

  void load(uint64_t first, T* to, size_t count) const {
    std::memcpy(to, bytes_.data() + first * sizeof(T), count * sizeof(T));
  }

  // Group i: the elements first+i, first+i+inner, … What pads the block is all zero.
  void scan_columns(uint64_t first, size_t count) {
    T rows[kGroup][kBlock];
    T zeros[kBlock];
    for (size_t k = 0; k < kGroup; ++k) {
      if (count < kBlock) std::fill(rows[k], rows[k] + kBlock, zero_);
      load(first + k * view_.inner, rows[k], count);
    }
    for (size_t i = 0; i < kBlock; ++i) {
      zeros[i] = static_cast<T>(is_zero(rows[0][i]) + is_zero(rows[1][i]) + is_zero(rows[2][i]) + is_zero(rows[3][i]));
    }
    count_block(zeros, first, 1);
    counts_.zeros -= kGroup * (kBlock - count);
  }

  void scan_adjacent(uint64_t groups) {
    T items[kGroup * kBlock];
    T zeros[kBlock];
    for (uint64_t group = 0; group < groups; group += kBlock) {
      const size_t count = std::min<uint64_t>(kBlock, groups - group);
      if (count < kBlock) std::fill(std::begin(items), std::end(items), zero_);
      load(group * kGroup, items, count * kGroup);
      for (size_t i = 0; i < kBlock; ++i) {
        const T* const item = items + i * kGroup;
        zeros[i] = static_cast<T>(is_zero(item[0]) + is_zero(item[1]) + is_zero(item[2]) + is_zero(item[3]));
      }
      count_block(zeros, group * kGroup, kGroup);
      counts_.zeros -= kGroup * (kBlock - count);
    }
  }

  // `zeros`: of each group; the groups begin `step` elements apart.
  void count_block(const T* zeros, uint64_t first, uint64_t step) {
    uint32_t sum = 0;
    uint32_t bad = 0;
    for (size_t i = 0; i < kBlock; ++i) {
      sum += static_cast<uint32_t>(zeros[i]);
      bad += zeros[i] < 2;
    }
    counts_.zeros += sum;
    counts_.bad_groups += bad;
    if (bad == 0 || counts_.first_bad) return;
    const size_t at = static_cast<size_t>(std::find_if(zeros, zeros + kBlock, [](T n) { return n < 2; }) - zeros);
    counts_.first_bad = first + at * step;
  }

  tensor::Bytes bytes_;
  const AxisView& view_;
  T mask_;
  T zero_;
  SparsityCounts counts_;
};

}  // namespace

SparsityCounts scan_groups(tensor::Bytes bytes, const AxisView& view, const ZeroPattern& pattern) {
  ASSAY_CHECK(bytes.size() >= view.outer * view.length * view.inner * pattern.width);
  switch (pattern.width) {
    case 1:
      return Scan<uint8_t>(bytes, view, pattern).run();
    case 2:
      return Scan<uint16_t>(bytes, view, pattern).run();
    case 4:
      return Scan<uint32_t>(bytes, view, pattern).run();
    default:
      break;
  }
  check_failed("elements are 1, 2 or 4 bytes wide", __FILE__, __LINE__);
}

}  // namespace assay::surgery
