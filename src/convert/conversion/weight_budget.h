#pragma once

#include <optional>

#include "convert/conversion/conversion.h"
#include "convert/quantize/weight_only.h"

namespace assay::convert {

// Compresses each layer alone and looks at the outputs, orders layers by the noise that each saved byte costs, and with
// a budget finds the fewest layers, the noisiest first, without which it holds; these are kept in `options`. Each try
// is measured as a whole. Error (unsupported) if the backend fails.
void choose_weights(const Conversion& conversion, const std::optional<WeightBudget>& budget, const MomentsOf& moments,
                    WeightOptions& options, results::ConversionReport& report);

}  // namespace assay::convert
