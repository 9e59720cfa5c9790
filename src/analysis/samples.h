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
  // One for each moved run, as add_run() makes them; none: all are like the nominal one. Floating tensors are held as
  // differences from the nominal one (beside an infinity or NaN, as numbers), since rounding them would hide small
  // moves.
  std::vector<tensor::Datum> moved;
  // The moved runs without steps that are correct at single elements, which `steps` tells; none: `moved` has none.
  std::vector<tensor::Datum> unstepped;
  std::vector<float> steps;  // distance to the steps next to each element, where it may fall to another
  bool has_flips = false;    // elements before it fell to other steps in some of the runs
  std::string unknown;       // reason why correct computations may give anything; empty: they may not

  bool is_same() const { return moved.empty(); }
  // Value of a run, with and without single steps; floating tensors as float64.
  tensor::Datum of(uint32_t run) const;
  tensor::Datum without_steps(uint32_t run) const;
  void add_run(const tensor::Datum& value) { moved.push_back(held(value)); }
  tensor::Datum held(const tensor::Datum& value) const;
};

// Difference of a run from the nominal number, as Samples holds it; infinite where only one of them is a number.
double difference_of(double nominal, double held);

// Drops what is the same in all runs; other shapes in one of them are not followed.
void settle(Samples& samples);

// The distance that an operand may have from its nominal elements: `margin` deviations, 0 where all runs agree. Empty
// if they all agree everywhere, and for what is not a floating tensor.
std::vector<float> reach(const Samples& samples, double margin);

// The distance that two correct computations of a tensor may have, as the runs show it; if not all are made, at least.
// `least_roundoff`: of the type that values are kept in, where less precision is permitted than is declared.
compare::Allowance allowance_of(const Samples& samples, double least_roundoff = 0);

// The allowance if it is known how far runs would lie from `nominal`: the mean squares of that, for each element.
compare::Allowance allowance_of(const tensor::Datum& nominal, const std::vector<double>& squares,
                                double least_roundoff);

// Share of itself that any correct result may be off by, in units of which allowances count four: the roundoff of its
// type, or of float32 for types of 8 bits and less, which are followed step by step.
double least_share(tensor::DType declared, double least_roundoff);

// Half the distance from 1 to the next number of the type: 2^-24 of float32, and of what is no float.
double roundoff(tensor::DType dtype);
// The number of elements in a row that are computed alike: a channel's plane, a token's features, a row.
uint64_t neighbours(const tensor::Shape& shape);

}  // namespace assay::analysis
