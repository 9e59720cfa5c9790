#pragma once

#include <cstdint>

#include "base/parallel.h"

namespace assay::engine::cpu {

// A part of a layer's work, done from one end to the other by one thread.
struct Lane {
  int64_t begin = 0;
  int64_t end = 0;
};

// The part of `lane` among `lanes` equal ones of `count` items, which begin at multiples of `step`.
inline Lane lane_of(int64_t count, int64_t lanes, int64_t lane, int64_t step = 1) {
  const int64_t steps = (count + step - 1) / step;
  const auto at = [&](int64_t n) { return n * steps / lanes * step; };
  return {at(lane), lane + 1 == lanes ? count : at(lane + 1)};
}

}  // namespace assay::engine::cpu
