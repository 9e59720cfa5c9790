#include "ops/kernels/product/matrix_product.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "ops/kernels/product/product_blocks.h"

namespace assay::ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Matrix {
  uint64_t rows = 0;
  uint64_t columns = 0;
  std::vector<double> values = std::vector<double>(rows * columns);

  double& at(uint64_t row, uint64_t column) { return values[row * columns + column]; }
  double at(uint64_t row, uint64_t column) const { return values[row * columns + column]; }
};

// Of many magnitudes, so that each order of additions rounds in its own way.
Matrix random_matrix(uint64_t rows, uint64_t columns, unsigned seed) {
  std::mt19937_64 random(seed);
  Matrix made{rows, columns};
  for (double& value : made.values) {
    const int exponent = int(random() % 40) - 20;
    value = std::ldexp(double(int64_t(random())), exponent - 63);
  }
  return made;
}

Matrix naive(const Matrix& a, const Matrix& b) {
  Matrix c{a.rows, b.columns};
  for (uint64_t i = 0; i < c.rows; ++i) {
    for (uint64_t j = 0; j < c.columns; ++j) {
      double sum = 0;
      for (uint64_t k = 0; k < a.columns; ++k) {
        const double product = a.at(i, k) * b.at(k, j);
        sum = sum + product;
      }
      c.at(i, j) = std::isnan(sum) ? kNan : sum;
    }
  }
  return c;
}

auto reader(const Matrix& matrix) {
  return [&matrix](uint64_t row, uint64_t begin, std::span<double> out) {
    if (row >= matrix.rows || begin + out.size() > matrix.columns) throw std::out_of_range("read");
    for (uint64_t i = 0; i < out.size(); ++i) out[i] = matrix.at(row, begin + i);
  };
}

template <typename T>
Matrix product_by_tiles(const TileOf<T>& tile, const Matrix& a, const Matrix& b) {
  Matrix c{a.rows, b.columns};
  std::vector<std::atomic<int>> writes(c.values.size());
  const auto write = [&](uint64_t row, uint64_t begin, std::span<const double> values) {
    if (row >= c.rows || begin + values.size() > c.columns) throw std::out_of_range("write");
    for (uint64_t i = 0; i < values.size(); ++i) {
      c.at(row, begin + i) = values[i];
      ++writes[row * c.columns + begin + i];
    }
  };
  matrix_product_by(tile, {a.rows, b.columns, a.columns}, reader(a), reader(b), write);
  for (const std::atomic<int>& count : writes) {
    if (count != 1) throw std::logic_error("an element was not written once");
  }
  return c;
}

uint64_t differing_bits(const Matrix& left, const Matrix& right) {
  uint64_t different = left.values.size() != right.values.size();
  for (uint64_t i = 0; i < std::min(left.values.size(), right.values.size()); ++i) {
    different += std::bit_cast<uint64_t>(left.values[i]) != std::bit_cast<uint64_t>(right.values[i]);
  }
  return different;
}

void expect_naive_bits(const Matrix& a, const Matrix& b) {
  const Matrix expected = naive(a, b);
  for (unsigned threads : {1u, 2u, 5u}) {
    set_thread_count(threads);
    for (const Tile& tile : tiles()) {
      EXPECT_EQ(differing_bits(product_by_tiles(tile, a, b), expected), 0u)
          << tile.name << ", " << threads << " threads: " << a.rows << "x" << b.columns << "x" << a.columns;
    }
  }
  set_thread_count(0);
}

void expect_naive_bits(uint64_t rows, uint64_t columns, uint64_t depth) {
  expect_naive_bits(random_matrix(rows, depth, 1), random_matrix(depth, columns, 2));
}

TEST(MatrixProduct, small_sizes_have_the_bits_of_three_loops) {
  for (uint64_t rows : {0, 1, 2, 5, 6, 7, 8, 9, 13, 25}) {
    for (uint64_t columns : {0, 1, 3, 8, 9, 24, 31, 49}) {
      for (uint64_t depth : {0, 1, 2, 33}) expect_naive_bits(rows, columns, depth);
    }
  }
}

TEST(MatrixProduct, sizes_beyond_the_blocks_have_the_bits_of_three_loops) {
  expect_naive_bits(100, 100, 1000);
  expect_naive_bits(397, 801, 19);
  expect_naive_bits(801, 397, 3);
  expect_naive_bits(200, 130, 257);
  expect_naive_bits(97, 49, 515);
}

TEST(MatrixProduct, thin_sizes_have_the_bits_of_three_loops) {
  expect_naive_bits(1, 2500, 70);
  expect_naive_bits(4, 1025, 65);
  expect_naive_bits(17, 1200, 129);
  expect_naive_bits(19, 1200, 129);
  expect_naive_bits(2500, 1, 300);
  expect_naive_bits(2500, 7, 40);
  expect_naive_bits(1, 1, 5000);
  expect_naive_bits(3, 2, 1500);
}

// What three loops over floats give.
Matrix naive_floats(const Matrix& a, const Matrix& b) {
  Matrix c{a.rows, b.columns};
  for (uint64_t i = 0; i < c.rows; ++i) {
    for (uint64_t j = 0; j < c.columns; ++j) {
      float sum = 0;
      for (uint64_t k = 0; k < a.columns; ++k) {
        const float product = static_cast<float>(a.at(i, k)) * static_cast<float>(b.at(k, j));
        sum = sum + product;
      }
      c.at(i, j) = static_cast<double>(sum);
    }
  }
  return c;
}

TEST(MatrixProduct, products_of_floats_have_the_bits_of_three_loops) {
  for (const auto& [rows, columns, depth] : std::vector<std::array<uint64_t, 3>>{
           {1, 1, 1}, {5, 17, 3}, {7, 33, 300}, {397, 801, 19}, {1, 2500, 70}, {17, 1200, 129}, {2500, 7, 40}}) {
    const Matrix a = random_matrix(rows, depth, 1), b = random_matrix(depth, columns, 2);
    const Matrix expected = naive_floats(a, b);
    for (const FloatTile& tile : float_tiles()) {
      EXPECT_EQ(differing_bits(product_by_tiles(tile, a, b), expected), 0U)
          << tile.name << ' ' << rows << 'x' << columns;
    }
  }
}

TEST(MatrixProduct, a_scope_makes_products_of_floats) {
  const double x = 1 + std::ldexp(1.0, -30);
  const Matrix a{1, 1, {x}}, b{1, 1, {1.0}};
  const auto product_of = [&] {
    double result = 0;
    matrix_product({1, 1, 1}, reader(a), reader(b),
                   [&](uint64_t, uint64_t, std::span<const double> values) { result = values[0]; });
    return result;
  };
  {
    const FloatProducts floats;
    EXPECT_EQ(product_of(), 1.0);
  }
  EXPECT_EQ(product_of(), x);
}

TEST(MatrixProduct, depth_0_gives_positive_zeros) {
  const Matrix c = product_by_tiles(tiles().front(), Matrix{3, 0}, Matrix{0, 5});
  EXPECT_EQ(differing_bits(c, Matrix{3, 5}), 0u);
}

TEST(MatrixProduct, a_sum_of_negative_zeros_is_positive) {
  const Matrix a{1, 1, {-0.0}};
  const Matrix b{1, 1, {5.0}};
  for (const Tile& tile : tiles()) EXPECT_FALSE(std::signbit(product_by_tiles(tile, a, b).at(0, 0)));
}

TEST(MatrixProduct, products_are_rounded_before_they_are_added) {
  const double x = 1 + std::ldexp(1.0, -30);
  const Matrix a{1, 2, {-1.0, x}};
  const Matrix b{2, 1, {1 + std::ldexp(1.0, -29), x}};
  for (const Tile& tile : tiles()) EXPECT_EQ(product_by_tiles(tile, a, b).at(0, 0), 0.0);
}

TEST(MatrixProduct, not_a_number_and_infinity_stay_in_their_elements) {
  for (uint64_t size : {2, 29, 60}) {
    Matrix a = random_matrix(size, size, 3);
    Matrix b = random_matrix(size, size, 4);
    a.at(1, 0) = kInfinity;
    a.at(size - 1, 1) = -kNan;
    b.at(0, 1) = 0.0;
    b.at(1, 0) = -kInfinity;
    const Matrix c = product_by_tiles(tiles().front(), a, b);
    EXPECT_TRUE(std::isnan(c.at(1, 1)));
    EXPECT_TRUE(std::isnan(c.at(size - 1, size - 1)));
    EXPECT_TRUE(std::isinf(c.at(0, 0)));
    EXPECT_TRUE(std::isfinite(c.at(0, 1)));
    expect_naive_bits(a, b);
  }
}

TEST(MatrixProduct, memory_of_a_block_is_bounded) {
  constexpr uint64_t kHuge = uint64_t{1} << 30;
  const ProductSize sizes[] = {
      {kHuge, kHuge, kHuge}, {1, kHuge, kHuge}, {kHuge, 1, kHuge}, {17, kHuge, 9}, {kHuge, 9, 3}};
  for (const Tile& tile : tiles()) {
    for (const ProductSize& size : sizes) {
      const BlockPlan plan = plan_blocks(tile.size(), size, 2);
      EXPECT_LE(plan.narrow_elements() + plan.wide_elements() + plan.sums_elements(), (uint64_t{5} << 20) / 8);
      EXPECT_LE(std::max(plan.narrow_step, plan.wide_step), kMostItems);
      EXPECT_LE(plan.depth, kMostDepth);
    }
  }
}

TEST(MatrixProduct, an_exception_of_a_reader_comes_out) {
  const Matrix a = random_matrix(300, 300, 5);
  const auto bad = [](uint64_t, uint64_t, std::span<double>) { throw std::runtime_error("unreadable"); };
  const auto write = [](uint64_t, uint64_t, std::span<const double>) {};
  EXPECT_THROW(matrix_product({300, 300, 300}, reader(a), bad, write), std::runtime_error);
}

}  // namespace
}  // namespace assay::ops
