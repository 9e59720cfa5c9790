#pragma once

#include "ops/node.h"

namespace assay::ops {

// The place of one sample along an axis: between `low` and `high`, `rest` of the way.
struct RoiSample {
  int64_t low = 0;
  int64_t high = 0;
  double rest = 0;
  bool is_outside = false;

  RoiSample(double at, int64_t size);
};

// A region along one axis of a picture: bins of equal length, each with equally many samples.
struct RoiAxis {
  double start = 0, length = 0;
  int64_t bins = 0;
  int64_t size = 0;             // of the picture
  int64_t samples_per_bin = 0;  // 0: the region is empty

  RoiSample sample(int64_t bin, int64_t i) const;
  // Samples of a bin beside which all are outside of the picture, of which there may be very many.
  struct Range {
    int64_t begin = 0, end = 0;
    int64_t count() const { return end - begin; }
  };
  Range near_picture(int64_t bin) const;
};

struct RoiRegion {
  RoiAxis rows, columns;
};

// An Error where a region is of an image that is not there.
void check_roi_image(int64_t region, int64_t image, int64_t images);

// The rules of RoiAlign's attributes for placing regions.
struct RoiRules {
  double scale = 1;
  bool is_half_pixel = false;
  int64_t ratio = 0;              // samples of a bin along an axis; 0: one for each pixel of its length
  int64_t height = 0, width = 0;  // bins

  explicit RoiRules(const Node& node);
  // The region of four numbers; Error if bins have too many samples.
  RoiRegion region(const double* roi, int64_t picture_height, int64_t picture_width) const;
};

}  // namespace assay::ops
