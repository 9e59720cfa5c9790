#pragma once

#include <string>
#include <vector>

#include "compare/allowance.h"
#include "tensor/datum.h"

namespace assay::analysis {

constexpr uint32_t kMovedRuns = 7;  // beside the one that is not moved

// One value in all runs.
struct Samples {
  tensor::Datum nominal;
  std::vector<tensor::Datum> moved;  // one for each moved run; none: all are like the nominal one
  std::vector<float> steps;          // how far the steps next to each element are, where it may fall to another
  bool has_flips = false;            // elements before it fell to other steps in some of the runs
  std::string unknown;               // why correct computations may give anything; empty: they may not

  bool is_same() const { return moved.empty(); }
  const tensor::Datum& of(uint32_t run) const { return moved.empty() ? nominal : moved[run]; }
};

// Drops what is the same in all runs; other shapes in one of them are not followed.
void settle(Samples& samples);

// How far an operand may be from its nominal elements: `margin` deviations, 0 where all runs agree. Empty where they
// all agree everywhere, and for what is no floating tensor.
std::vector<float> reach(const Samples& samples, double margin);

// How far two correct computations of a tensor may lie apart, as the runs show it; where not all are made, at least.
// `least_roundoff`: of the type that values are kept in, where less precision is permitted than is declared.
compare::Allowance allowance_of(const Samples& samples, double least_roundoff = 0);

// The same, where it is known how far runs would lie from `nominal`: the mean squares of that, for each element.
compare::Allowance allowance_of(const tensor::Datum& nominal, const std::vector<double>& squares,
                                double least_roundoff);

// Half the distance from 1 to the next number of the type: 2^-24 of float32, and of what is no float.
double roundoff(tensor::DType dtype);
// How many elements in a row are computed alike: a channel's plane, a token's features, a row.
uint64_t neighbours(const tensor::Shape& shape);

}  // namespace assay::analysis
