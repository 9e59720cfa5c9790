#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace assay::engine::cpu {

// Convolutions 3 x 3 by Winograd's F(4 x 4, 3 x 3): a tile of 6 x 6 pixels becomes 36 numbers for each channel, whose
// products with the 36 of the weights become 4 x 4 pixels. The points are 0, 1/sqrt(2), -1/sqrt(2), sqrt(2), -sqrt(2)
// and infinity: of those with as cheap transforms they lose least.
constexpr size_t kWinogradIn = 6;
constexpr size_t kWinogradOut = 4;
constexpr size_t kWinogradTerms = kWinogradIn * kWinogradIn;
constexpr size_t kWinogradChannels = 16;  // numbers of channels have to be multiples

using WinogradInPixels = std::array<const float*, kWinogradTerms>;
using WinogradOutPixels = std::array<float*, kWinogradOut * kWinogradOut>;

// Of all channels of a tile; those of a pixel are neighbours.
struct WinogradTransforms {
  const char* name;
  // `terms` are `stride` apart.
  void (*in)(const WinogradInPixels& pixels, float* terms, size_t stride, size_t channels);
  // Pixels outside the picture are null, as is a bias that is not there.
  void (*out)(const float* terms, size_t stride, const float* bias, const WinogradOutPixels& pixels, size_t channels);
};

// The fastest that this processor runs.
const WinogradTransforms& winograd_transforms();

// [36][channels][out_channels] from weights [out_channels][channels][3][3].
std::vector<float> winograd_weights(const float* weights, size_t out_channels, size_t channels);

// The largest error of results against sums in double, in units of their root mean square, on a drawn tile.
double winograd_error(const float* weights, size_t out_channels, size_t channels);

}  // namespace assay::engine::cpu
