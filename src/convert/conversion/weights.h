#pragma once

#include "convert/conversion/conversion.h"
#include "convert/conversion/layer_budget.h"
#include "convert/quantize/weight_options.h"

namespace assay::convert {

struct WeightConversion {
  WeightOptions options;
  LayerTrials trials = {};
  bool reports_errors = false;  // of the results of each layer, in the place of those of its weight
};

// Only weights become small integers. Errors: those of compress_weights and, where it measures, of the host.
results::ConversionReport convert_weights(const Conversion& conversion, const WeightConversion& wanted);

}  // namespace assay::convert
