#pragma once

#include <string>

#include "engine/devices/cuda/generate/element_site.h"

namespace assay::engine::cuda {

// A reduction of parts of ranks, element by element, and the operators behind it.
struct Summing {
  tensor::DType dtype = tensor::DType::undefined;
  int64_t count = 0;  // elements of a part, of which the site moves some at once
  int64_t ranks = 0;
  int64_t reduction = 0;  // sum, prod, min, max, avg
  ElementSite site;

  // Places of the number of elements, and of the first result, among the numbers of a launch that reads parts; the
  // addresses of these are its first pointers.
  static constexpr size_t kCountPlace = 0, kFirstPlace = 1;
};

// Names and functions for texts that reduce. Adds what they need to the launch.
std::string summed_text(const Summing& summing, Launch& launch);
// The kernel that reads all parts, each of which is this pointer.
Launch make_summing_launch(Programs& programs, const Summing& summing, const Pointer& part);

}  // namespace assay::engine::cuda
