#pragma once

#include "engine/devices/cpu/tiles/windows.h"

namespace assay::engine::cpu {

// Pictures of few channels under the windows of a convolution, in a copy with zeros around them and behind the channels
// of each pixel, where the places of a line of a window are one step of the product.
class WidePictures {
 public:
  // `channels`: of a pixel of the copy.
  WidePictures(const ConvGeometry& geometry, int64_t channels, int64_t bytes);
  uint64_t workspace_bytes() const;
  int64_t joined() const { return joined_; }  // places of a window that are one step
  Windows windows() const;                    // over the copy
  // Makes the copy, by all threads, and returns where its first picture is.
  const std::byte* prepare(const std::byte* pictures, std::byte* workspace) const;

 private:
  void copy_line(const std::byte* pictures, int64_t line, std::byte* workspace) const;

  ConvGeometry g_;
  int64_t channels_, bytes_, joined_;
  ConvGeometry copy_;
};

}  // namespace assay::engine::cpu
