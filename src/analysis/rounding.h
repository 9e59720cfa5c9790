#pragma once

#include <optional>
#include <span>

#include "ir/model.h"
#include "tensor/datum.h"

namespace assay::analysis {

// The effect that correct implementations of an operator may have on its results, beside the exact ones
// (docs/numerics.md).
enum class RoundingKind : uint8_t {
  exact,      // moves or selects elements
  rounded,    // continuous: exact for inputs that are slightly moved, and rounded
  quantized,  // rounds to steps: an element near an edge may fall to either side
  decided,    // rounded to truths or integers, whose flips are rare
  selected,   // picks elements or their places by their size
  random      // drawn
};

// Amplitudes, relative to an element, in units of the roundoff of the arithmetic.
struct Rounding {
  RoundingKind kind = RoundingKind::exact;
  double inputs = 0;  // of each element of the floating inputs, or of the first one alone
  bool moves_first_only = false;
  double output = 0;  // of each floating result
  // Weights of a narrow type may be rounded once more: a BatchNormalization behind them is folded in.
  bool folds_weights = false;
  bool counts_one = false;           // results are parts of 1: the amplitude of the output is absolute
  bool counts_input = false;         // rounding is that of the first input's element, if that is greater
  bool picks_places = false;         // results are elements at places that are computed: in another one, a neighbour's
  bool makes_codes = false;          // of numbers within the operator: one near an edge may fall to either side
  bool adds_elements = false;        // by ops::Adder
  std::optional<int64_t> free_axis;  // along which elements may stand in any order, the same in all results
  bool counts_plane =
      false;  // rounding is that of the greatest element of its picture, or of what the picture is read from

  // True if each element of a result is made of single elements.
  bool passes_elements() const { return kind == RoundingKind::exact || (kind == RoundingKind::rounded && output <= 4); }
};

// The rounding of a node that was run on these inputs. Nodes with bodies and calls of functions are exact: what is in
// them is not.
Rounding rounding_of(const ir::Model& model, ir::NodeId node, std::span<const tensor::Datum> inputs,
                     std::span<const tensor::Datum> outputs);

}  // namespace assay::analysis
