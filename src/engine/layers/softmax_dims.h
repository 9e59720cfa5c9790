#pragma once

#include "ops/node.h"

namespace assay::engine {

// True if a Softmax or LogSoftmax goes over all dims from its axis on, as it did before version 13.
inline bool flattens_dims(const ops::Node& softmax) {
  constexpr int64_t kFirstOverOneAxis = 13;
  return softmax.version() < kFirstOverOneAxis;
}

inline int64_t softmax_axis(const ops::Node& softmax, size_t rank) {
  return ops::normalize_axis(softmax.integer("axis", flattens_dims(softmax) ? 1 : -1), static_cast<int64_t>(rank));
}

}  // namespace assay::engine
