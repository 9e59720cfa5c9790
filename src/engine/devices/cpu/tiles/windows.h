#pragma once

#include <array>
#include <vector>

#include "engine/layers/conv_geometry.h"

namespace assay::engine::cpu {

// The geometry over a copy of the parts of pictures that windows reach, with what is added around them, whose lines and
// columns are so many steps apart in the pictures; `joined` places of a line of a window are one.
ConvGeometry copied_geometry(const ConvGeometry& g, int64_t joined, const std::array<int64_t, 2>& steps = {1, 1});

// The pixels of a picture under the windows of a convolution, which is a product on tiles: a row is a pixel of the
// result, a step a place in its window.
class Windows {
 public:
  struct Pixels {
    int64_t first, count;  // of the result, picture by picture
  };

  // For elements of so many bytes, of which those that are added around pictures consist of bytes `padding`.
  Windows(const ConvGeometry& geometry, int64_t bytes, std::byte padding);

  // Finds the begins of the channels of each place of each window.
  void find(const std::byte* pictures, const Pixels& pixels, const float** out) const;
  // A bit for each place of at most 64, which is not set where all of a line or column of places lies outside of the
  // picture. Beyond a corner only the one or the other counts, by turns: so the sides of a picture are of equal length.
  uint64_t places_within(int64_t pixel) const;

 private:
  // A pixel of the result, and where its window begins.
  struct Place {
    const std::byte* picture;
    int64_t line, column;
  };
  // Adds windows of results side by side. Each returns the end of what it wrote.
  const float** add_windows(const Place& place, int64_t count, const float** out) const;
  const float** add_window(const Place& place, const float** out) const;
  template <size_t kPlaces>
  const float** add_whole(const std::byte* from, int64_t count, const float** out) const;

  ConvGeometry g_;
  int64_t pixel_bytes_;
  bool is_each_pixel_;            // that the result has one for
  std::vector<int64_t> offsets_;  // of the places of a window from its first one, in bytes
  std::vector<std::byte> padding_;
};

}  // namespace assay::engine::cpu
