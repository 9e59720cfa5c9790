#pragma once

#include <array>
#include <cstddef>
#include <numbers>
#include <tuple>

namespace assay::engine::cpu {

// The points of a form besides 0, which is one where their number is even, and infinity: plus and minus each of these.
// Of points with as cheap transforms they lose least.
template <size_t kStride, size_t kOut>
constexpr std::array<double, 0> kWinogradPoints = {};
template <>
inline constexpr std::array<double, 2> kWinogradPoints<1, 4> = {std::numbers::sqrt2 / 2, std::numbers::sqrt2};
template <>
inline constexpr std::array<double, 1> kWinogradPoints<1, 2> = {1};
template <>
inline constexpr std::array<double, 2> kWinogradPoints<2, 4> = {0.375, 1.25};
template <>
inline constexpr std::array<double, 1> kWinogradPoints<2, 2> = {1};

// A form of convolutions 3 x 3 at this stride, in one direction: numbers of a line of pixels become as many terms,
// whose products with those of the weights become kOut numbers. At stride 1 the points stand for the three weights of a
// line. At stride 2 they stand for the first and the last, which meet the even pixels; the odd pixels follow as they
// are, and meet the weight in the middle.
template <size_t kFormStride, size_t kFormOut>
struct WinogradLine {
  static constexpr size_t kStride = kFormStride;
  static constexpr size_t kOut = kFormOut;
  static constexpr auto kPoints = kWinogradPoints<kStride, kOut>;
  static constexpr size_t kPointTerms = kOut + (kStride == 1 ? 2 : 1);
  static constexpr size_t kZeros = (kPointTerms + 1) % 2;  // number of points that are 0
  static constexpr size_t kSide = kStride == 1 ? kPointTerms : 2 * kOut + 1;
  static_assert(kPointTerms == kZeros + 2 * kPoints.size() + 1);

  // The coefficients of the product of y - p * p over all points but one, lowest first; the highest is 1.
  template <size_t kCount>
  static constexpr std::array<double, kCount + 1> squares_without(size_t left_out) {
    std::array<double, kCount + 1> made{1};
    size_t degree = 0;
    for (size_t i = 0; i < kPoints.size(); ++i) {
      if (i == left_out) continue;
      const double square = kPoints[i] * kPoints[i];
      ++degree;
      for (size_t k = degree; k > 0; --k) made[k] = made[k - 1] - square * made[k];
      made[0] *= -square;
    }
    return made;
  }
};

// All forms; of a stride, those with fewest multiplications first.
using WinogradLines = std::tuple<WinogradLine<1, 4>, WinogradLine<1, 2>, WinogradLine<2, 4>, WinogradLine<2, 2>>;

}  // namespace assay::engine::cpu
