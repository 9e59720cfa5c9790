#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/model.h"
#include "tensor/datum.h"

namespace assay::debug {

using tensor::Datum;

// A value that a second model has in the codes of a quantizer, in the place of one of the first.
struct Quantized {
  Datum codes;       // none: its side does not show them
  Datum scale;       // of all elements, of those at an index of `axis`, or of `block` of these in a row
  Datum zero_point;  // none: 0
  int64_t axis = 1;  // may count from the end
  int64_t block = 0;
  // Factors of a BatchNormalization that is folded into the codes, one for each index of the first dim; empty: none is.
  std::vector<double> factors = {};
};

// Quantized operands and results of one layer.
using QuantizedValues = std::map<ir::ValueId, Quantized>;

// A reason why the quantizer of a value is not sound.
struct QuantizerFault {
  std::string text;         // empty: it is sound
  bool is_clipped = false;  // the fault is its range
};

// A matrix of 8-bit codes, transposed; others stay as they are.
Datum turned(const Datum& codes);

// A quantizer's effect on numbers.
struct Quantization {
  Datum numbers;         // meaning of the codes, in float32; none if shapes do not fit
  QuantizerFault fault;  // of any quantizer that makes them of the numbers
  double excess = 0;     // the furthest element beside its step; those beyond the range do not count
  double step = 0;       // there
};

// The numbers of the codes beside `values`, which they stand for. Sound are codes at most half a step off, few of them
// a whole one, and ends of the range for what is beyond it, if a wider range is not clearly better. `roundoff`: of the
// type in which the values are computed.
Quantization quantization_of(const Quantized& quantized, const Datum& values, double roundoff);

}  // namespace assay::debug
