#pragma once

#include <limits>
#include <map>

#include "ir/model.h"

namespace assay::debug {

// All numbers from `low` to `high`.
struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool is_bounded() const;
  double magnitude() const;
};

// Between which numbers every floating value of the main graph lies when the inputs lie within theirs, by the rules of
// its operators, without running it. Roundings are left out. Sums with constant weights are bounded by these weights;
// what has no rule, and what follows from it, may be anything.
std::map<ir::ValueId, Interval> value_intervals(const ir::Model& model, const std::map<ir::ValueId, Interval>& inputs);

}  // namespace assay::debug
