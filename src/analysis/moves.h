#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/rounding.h"
#include "tensor/datum.h"

namespace assay::analysis {

// The draw for each element: how far it is moved; or only in which direction, as far as it is moved in the mean of
// squares; or the opposite direction.
enum class Draw : uint8_t { numbers, signs, opposite_signs };

// One of the runs that are moved at random, at one node; equal keys give equal moves.
struct MoveKey {
  uint64_t seed = 0;
  uint32_t node = 0;
  uint32_t run = 0;  // from 0
  uint32_t operand = 0;
  double least_roundoff = 0;  // of the arithmetic, where less precision is permitted than is declared
  Draw draw = Draw::numbers;
};

// True if a run keeps results that are declared narrower than float32 in float32, as backends do that compute a whole
// model, or some of its nodes, so.
bool keeps_wide(const MoveKey& key);

// The greatest magnitude of finite numbers; 0 if there are none.
double greatest_size(std::span<const double> values);

// True if sums of so many of the numbers are exact in float32 in any order.
bool are_small_multiples(std::span<const double> values, double terms);

// The roundoff of the arithmetic behind values of this type: narrow ones are computed in float32.
double arithmetic_roundoff(tensor::DType declared);

// The integers that a quantizer makes of its operands, and of them moved to the ends of what they may be.
struct Flips {
  tensor::Datum nominal;
  tensor::Datum down;
  tensor::Datum up;
};

// All but the last take and give what fp64 mode holds: float64 with a declared type. Others than floating tensors stay
// as they are.

// Each element moved at random, by at most `amplitude` roundoffs of itself. What is exactly 0 stays so.
tensor::Datum moved_input(const tensor::Datum& datum, double amplitude, const MoveKey& key);
// Elements that are not exact in the declared type are moved, and rounded to types narrower than float32.
// `first_input`, if it has as many elements, is what Rounding::counts_input asks for.
tensor::Datum moved_output(const tensor::Datum& datum, const Rounding& rounding, const tensor::Datum* first_input,
                           const MoveKey& key);
// Each element moved at random, by `deviations` in the mean of squares, and rounded to types narrower than float32.
tensor::Datum moved_by(const tensor::Datum& datum, std::span<const float> deviations, const MoveKey& key);
// Rounded to the declared type.
tensor::Datum rounded(const tensor::Datum& datum);
// The numbers in float32, if the declared type, and so every rounded number of it, fits into that.
tensor::Datum compact(const tensor::Datum& datum);
// The result of a run that is not moved: rounded to the declared type, and compact.
tensor::Datum nominal_of(const tensor::Datum& exact);
// True if rounding changes none of them.
bool are_exact(std::span<const tensor::Datum> data);
// True if both are tensors, not of strings, with the same bits; or both nothing.
bool equal_bits(const tensor::Datum& a, const tensor::Datum& b);
// Each element moved by its allowance: all down in run 0, up in run 1 and by random shares in the others; the reverse
// for odd operands.
tensor::Datum moved_to_edges(const tensor::Datum& datum, std::span<const float> allowances, const MoveKey& key);
// nominal + factor * (moved - nominal), where all are finite.
tensor::Datum amplified(const tensor::Datum& nominal, const tensor::Datum& moved, double factor);
// Elements turned around along an axis, as in a ring; in no run is one in its place where there are several.
tensor::Datum turned(const tensor::Datum& datum, int64_t axis, uint32_t run);
// Integers of a run where few lie near an edge: those that may fall to `down` or `up` do so in about half of the runs.
// All are of one type and shape.
tensor::Datum with_flips(const tensor::Datum& moved, const Flips& flips, uint32_t run);

}  // namespace assay::analysis
