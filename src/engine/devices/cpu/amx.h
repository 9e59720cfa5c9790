#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::engine::cpu::amx {

#if defined(__x86_64__)

// Tiles of sums are 0 to 3, of rows 4 and 5, of panels 6 and 7. Compilers know nothing of their registers: whoever
// configures them touches them alone, in the order in which it is written, until they are released.
inline constexpr int kRowTile = 4, kPanelTile = 6;
inline constexpr size_t kRows = 16;   // of a tile, at most
inline constexpr size_t kWords = 16;  // of a row of a tile, at most
inline constexpr size_t kLine = 64;   // bytes of a row of a tile

template <int kNumber>
[[gnu::always_inline]] inline void load(const void* from, int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kNumber) : "memory");
}

template <int kNumber>
[[gnu::always_inline]] inline void store(void* to, int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kNumber) : "memory");
}

template <int kNumber>
[[gnu::always_inline]] inline void zero() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kNumber));
}

// Kinds of words of rows; those of panels are codes with a sign, or pairs of bfloat16.
enum class Words : uint8_t { plain_codes, signed_codes, pairs };

template <Words kKind, int kSum, int kRow, int kPanel>
[[gnu::always_inline]] inline void multiply() {
  if constexpr (kKind == Words::plain_codes)
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kRow), "i"(kPanel));
  else if constexpr (kKind == Words::signed_codes)
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kRow), "i"(kPanel));
  else
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kRow), "i"(kPanel));
}

// Some neighbouring tiles of sums, in memory: two beside each other, or two above each other, or both.
template <bool kIsHigh, bool kIsWide>
struct Sums {
  float* first;
  float* second;   // below
  int64_t stride;  // bytes from one row to the next

  void start() const {
    zero<0>();
    if constexpr (kIsWide) zero<1>();
    if constexpr (kIsHigh) zero<2>();
    if constexpr (kIsHigh && kIsWide) zero<3>();
  }
  void read() const {
    load<0>(first, stride);
    if constexpr (kIsWide) load<1>(first + kWords, stride);
    if constexpr (kIsHigh) load<2>(second, stride);
    if constexpr (kIsHigh && kIsWide) load<3>(second + kWords, stride);
  }
  void write() const {
    store<0>(first, stride);
    if constexpr (kIsWide) store<1>(first + kWords, stride);
    if constexpr (kIsHigh) store<2>(second, stride);
    if constexpr (kIsHigh && kIsWide) store<3>(second + kWords, stride);
  }
};

// Tiles of a thread, configured for as long as this exists and free afterwards: for sums of so many rows, of products
// of so many words.
class Tiles {
 public:
  Tiles(size_t rows, size_t words) {
    for (size_t i = 0; i < kRowTile; ++i) set(i, rows, kLine);
    for (size_t i = kRowTile; i < kPanelTile; ++i) set(i, rows, words * sizeof(float));
    for (size_t i = kPanelTile; i < kPanelTile + 2; ++i) set(i, words, kLine);
    asm volatile("ldtilecfg %0" : : "m"(all_));
  }
  ~Tiles() { asm volatile("tilerelease"); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

 private:
  struct alignas(kLine) Configuration {
    uint8_t palette = 1;
    uint8_t start_row = 0;
    std::array<uint8_t, 14> reserved{};
    std::array<uint16_t, 16> row_bytes{};
    std::array<uint8_t, 16> rows{};
  };

  void set(size_t number, size_t rows, size_t row_bytes) {
    all_.rows[number] = static_cast<uint8_t>(rows);
    all_.row_bytes[number] = static_cast<uint16_t>(row_bytes);
  }

  Configuration all_;
};

#endif

}  // namespace assay::engine::cpu::amx
