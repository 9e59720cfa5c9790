#pragma once

#include <string>
#include <vector>

#include "convert/conversion/conversion.h"

namespace assay::convert {

// Edits of a model that comes with 16-bit floats. Names are those of nodes or of their results, and may be wildcards.
struct MendingConversion {
  std::vector<std::string> widened;  // layers that compute in float32 from now on
  std::vector<std::string> clipped;  // Casts before which what is beyond their type is cut off
};

// Errors: those of widen_layers and clip_casts.
results::ConversionReport mend(const Conversion& conversion, const MendingConversion& wanted);

}  // namespace assay::convert
