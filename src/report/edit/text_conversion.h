#pragma once

#include <string>

#include "results/conversion.h"

namespace assay::report {

// The numbers of converted layers, in one line.
std::string conversion_summary(const results::ConversionReport& report);
// The line for conversions to integers.
std::string integer_summary(const results::ConversionReport& report);
// The line for layers of 16-bit models.
std::string mending_summary(const results::ConversionReport& report);
// ``node `n` (Softmax) stays float32: excluded by name``
std::string kept_line(const results::ConvertedLayer& layer);
std::string weight_line(const results::WeightLoss& weight, const results::ConversionReport& report);
// The loss of the conversion, one line per layer under a head, limited to the layers with the greatest loss. Empty if
// it was not measured.
std::string error_table(const results::ConversionReport& report, size_t most);
// Layers compressed alone, those that cost the outputs most first, and all together without some; empty if that was
// not measured.
std::string sensitivity_table(const results::ConversionReport& report, size_t most);

}  // namespace assay::report
