#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/devices/cpu/tiles/tile_kernels.h"

namespace assay::engine::cpu {
namespace {

// A tile of drawn codes, and what whole numbers and double arithmetic make of it.
class DrawnCodes {
 public:
  DrawnCodes(const TileKernels& kernels, bool are_signed, unsigned seed, size_t rows, size_t vectors)
      : kernels_(kernels), are_signed_(are_signed), random_(seed), columns_(vectors * kernels.width) {
    depth_ = 1 + random_() % 40;
    tile.rows = rows;
    tile.depth = depth_;
    draw_operands();
    finish_.channels = columns_ - random_() % (kernels.width / kernels.code_columns) * kernels.code_columns;
    finish_.type = random_() % 2 == 0 ? NumberType::int8 : NumberType::uint8;
    finish_.zero = static_cast<int32_t>(random_() % 256) - (finish_.type == NumberType::int8 ? 128 : 0);
    finish_.may_overflow = random_() % 2 == 0;
    finish_.out_row = static_cast<int64_t>(columns_ + random_() % 70);
    out.resize(rows * static_cast<size_t>(finish_.out_row) + kFirst, std::byte{77});
    finish_.out = out.data();
    draw_steps();
    tile.finish = &finish_;
    tile.element = kFirst;
  }

  // Of each byte of the result.
  std::vector<std::byte> expected() const {
    std::vector<std::byte> all(out.size(), std::byte{77});
    for (size_t r = 0; r < tile.rows; ++r) {
      for (size_t c = 0; c < finish_.channels; ++c) {
        const size_t element = r * static_cast<size_t>(finish_.out_row) + c + kFirst;
        all[element] = static_cast<std::byte>(static_cast<int>(finished(sum(r, c), c, element)));
      }
    }
    return all;
  }

  Tile tile;
  std::vector<std::byte> out;

 private:
  static constexpr int64_t kFirst = 3;

  void draw_operands() {
    const auto word = static_cast<size_t>(kernels_.codes);
    const size_t row = depth_ * word;
    for (size_t i = 0; i < tile.rows * row; ++i)
      codes_.push_back(static_cast<int16_t>(static_cast<int>(random_() % 256) - (are_signed_ ? 128 : 0)));
    narrow_.assign(codes_.begin(), codes_.end());
    for (size_t i = 0; i < columns_ * row; ++i)
      panel_.push_back(static_cast<int8_t>(random_() % 3 == 0 ? -128 : static_cast<int>(random_() % 256) - 128));
    const size_t code_bytes = word == 2 ? 2 : 1;
    const auto* const from = word == 2 ? reinterpret_cast<const std::byte*>(codes_.data())
                                       : reinterpret_cast<const std::byte*>(narrow_.data());
    for (size_t r = 0; r < tile.rows; ++r)
      places_.push_back(reinterpret_cast<const float*>(from + r * row * code_bytes));
    for (size_t c = 0; c < columns_; ++c) starts_.push_back(static_cast<int32_t>(random_() % 2001) - 1000);
    tile.places = places_.data();
    tile.panel = tile.ahead = reinterpret_cast<const float*>(panel_.data());
    tile.starts = reinterpret_cast<const float*>(starts_.data());
  }

  // Factors are such that no rounding of a float decides about a code.
  void draw_steps() {
    for (size_t c = 0; c < columns_; ++c) {
      factors_.push_back(static_cast<float>(1 + random_() % 100) / 65536);
      bias_.push_back(static_cast<float>(static_cast<int>(random_() % 401) - 200) / 16);
    }
    for (size_t i = 0; i < out.size(); ++i) added_.push_back(static_cast<uint8_t>(random_()));
    if (random_() % 2 == 0)
      steps_.push_back({.op = FinishOp::requantise, .factor = 0.5F, .offset = 2, .least = -90, .greatest = 100});
    if (random_() % 2 == 0)
      steps_.push_back({.op = FinishOp::add,
                        .type = random_() % 2 == 0 ? NumberType::int8 : NumberType::uint8,
                        .added = added_.data(),
                        .factor = 0.25F,
                        .offset = random_() % 2 == 0 ? -3.0F : 0.0F});
    if (random_() % 2 == 0) steps_.push_back({.op = FinishOp::bound, .least = -20, .greatest = 31.5F});
    if (random_() % 4 == 0) steps_.push_back({.op = FinishOp::bound, .least = 1.5F, .greatest = 60});
    finish_.factors = factors_.data();
    finish_.bias = bias_.data();
    finish_.steps = steps_.data();
    finish_.step_count = steps_.size();
  }

  int64_t sum(size_t row, size_t column) const {
    const auto word = static_cast<size_t>(kernels_.codes);
    int64_t total = starts_[column];
    for (size_t k = 0; k < depth_ * word; ++k) {
      const int code = codes_[row * depth_ * word + k] + kernels_.offset;
      total += int64_t{code} * panel_[(k / word * columns_ + column) * word + k % word];
    }
    return total;
  }

  double finished(int64_t sum, size_t column, size_t element) const {
    double x = static_cast<double>(sum) * factors_[column] + bias_[column];
    for (const FinishStep& step : steps_) {
      if (step.op == FinishOp::add) {
        const int code = step.type == NumberType::int8 ? int{static_cast<int8_t>(added_[element])} : added_[element];
        x += code * double{step.factor} + step.offset;
        continue;
      }
      if (step.op == FinishOp::requantise) x = std::nearbyint(x);
      x = std::clamp(x, double{step.least}, double{step.greatest});
      if (step.op == FinishOp::requantise) x = x * step.factor + step.offset;
    }
    const double least = finish_.type == NumberType::int8 ? -128 : 0;
    return std::clamp(std::nearbyint(x) + finish_.zero, least, least + 255);
  }

  const TileKernels& kernels_;
  bool are_signed_;
  std::mt19937 random_;
  size_t columns_, depth_ = 1;
  FinishRows finish_;
  std::vector<int16_t> codes_;
  std::vector<int8_t> narrow_, panel_;
  std::vector<const float*> places_;
  std::vector<int32_t> starts_;
  std::vector<float> factors_, bias_;
  std::vector<uint8_t> added_;
  std::vector<FinishStep> steps_;
};

// On AMX tiles, where there are any, and by vectors.
class CodeTileKernels : public testing::TestWithParam<const TileKernels& (*)(bool are_signed)> {};
INSTANTIATE_TEST_SUITE_P(All, CodeTileKernels, testing::Values(&code_kernels, &vector_code_kernels));

TEST_P(CodeTileKernels, MakeCodesOfSums) {
  for (const bool are_signed : {false, true}) {
    const TileKernels& kernels = GetParam()(are_signed);
    if (kernels.code_columns == 0) GTEST_SKIP() << "this processor's kernels make no codes";
    for (size_t vectors = 1; vectors <= kernels.most_vectors; ++vectors) {
      for (size_t rows = 1; rows <= 2 * kernels.most_rows(vectors) + 3; ++rows) {
        for (unsigned seed = 0; seed < 12; ++seed) {
          DrawnCodes drawn(kernels, are_signed, seed, rows, vectors);
          kernels.multiply(drawn.tile, vectors);
          ASSERT_EQ(drawn.out, drawn.expected())
              << kernels.name << " " << rows << " rows of " << vectors << ", seed " << seed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
