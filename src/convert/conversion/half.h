#pragma once

#include "convert/conversion/conversion.h"
#include "convert/precision/half_options.h"

namespace assay::convert {

struct HalfConversion {
  HalfOptions options;
  bool measures_ranges = false;  // in a run; values that do not fit stay float32
  double margin = 0.5;           // the share of the type's largest number that values may reach
  bool reports_errors = false;   // of each layer; does not change what is converted
};

// Float32 values and weights become 16 bits wide. Errors: those of convert_floats and, where it measures, of the host.
results::ConversionReport convert_to_half(const Conversion& conversion, const HalfConversion& wanted);

}  // namespace assay::convert
