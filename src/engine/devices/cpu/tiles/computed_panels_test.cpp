#include "engine/devices/cpu/tiles/computed_panels.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/devices/cpu/tiles/code_rows.h"

namespace assay::engine::cpu {
namespace {

using tensor::DType;

// Codes of a type as they lie, and what they stand for less a zero point.
struct DrawnCodes {
  DrawnCodes(std::mt19937& random, DType dtype, size_t count)
      : quantizer{.codes = dtype, .zero = number(dtype, static_cast<uint8_t>(random()))}, bytes(count) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 4 == 0 ? 255 * (random() % 2) : random());
  }
  static int32_t number(DType dtype, uint8_t byte) { return dtype == DType::int8 ? static_cast<int8_t>(byte) : byte; }
  int32_t at(size_t i) const { return number(quantizer.codes, static_cast<uint8_t>(bytes[i])) - quantizer.zero; }

  Quantizer quantizer;
  std::vector<std::byte> bytes;
};

struct Sizes {
  size_t rows, columns, depth;
};

// Sums of columns that lie one behind the other, side by side, or scattered, with what their zero point takes off.
void expect_sums(std::mt19937& random, const Sizes& size, DType row_type, DType column_type) {
  const auto [rows, columns, depth] = size;
  const DrawnCodes left(random, row_type, rows * depth);
  const size_t strides[3][2] = {{depth + 3, 1}, {1, columns + 5}, {depth * 2, 2}};
  for (const auto& [column, step] : strides) {
    const DrawnCodes right(random, column_type, (columns - 1) * column + (depth - 1) * step + 1);
    const ComputedPanels panels(left.quantizer, right.quantizer, static_cast<int64_t>(columns),
                                static_cast<int64_t>(depth));
    std::vector<std::byte> packed(panels.bytes(), std::byte{99});
    panels.pack(
        {right.bytes.data(), static_cast<int64_t>(column), static_cast<int64_t>(step), static_cast<int64_t>(columns)},
        packed.data());
    const auto words = static_cast<size_t>(panels.words());
    std::vector<std::byte> copies(rows * words * 4, std::byte{77});  // also behind the codes of a row
    std::vector<const float*> places;
    for (size_t r = 0; r < rows; ++r) {
      std::byte* const copy = copies.data() + r * words * 4;
      CodeForm::of(row_type).copy(left.bytes.data() + r * depth, static_cast<int64_t>(depth), copy);
      places.push_back(reinterpret_cast<const float*>(copy));
    }
    const auto row = static_cast<size_t>(panels.whole_columns());
    std::vector<int32_t> sums(rows * row);
    panels.multiply(places, packed.data(), sums.data(), panels.whole_columns());
    for (size_t r = 0; r < rows; ++r) {
      int32_t all = 0;
      for (size_t k = 0; k < depth; ++k) all += left.at(r * depth + k);
      for (size_t c = 0; c < columns; ++c) {
        int32_t expected = 0;
        for (size_t k = 0; k < depth; ++k) expected += left.at(r * depth + k) * right.at(c * column + k * step);
        ASSERT_EQ(sums[r * row + c] + panels.share() * all, expected)
            << rows << " x " << columns << " x " << depth << ", row " << r << ", column " << c << ", step " << step;
      }
    }
  }
}

TEST(ComputedPanels, SumsAreExact) {
  std::mt19937 random(11);
  for (int i = 0; i < 60; ++i) {
    const Sizes size{1 + random() % 20, 1 + random() % 200, 1 + random() % 150};
    for (const DType rows : {DType::uint8, DType::int8}) {
      for (const DType columns : {DType::uint8, DType::int8}) expect_sums(random, size, rows, columns);
    }
  }
  expect_sums(random, {12, 128, 64}, DType::uint8, DType::uint8);
  expect_sums(random, {3, 64, 3000}, DType::int8, DType::uint8);
}

}  // namespace
}  // namespace assay::engine::cpu
