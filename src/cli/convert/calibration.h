#pragma once

#include "cli/convert/layer_errors.h"
#include "passes/quantize/qdq_options.h"

namespace assay::cli {

// How the ranges of activations are found: `--calibration`, `--calibration-cache`, `--calibrate-with`, ...
OptionGroup calibration_group();
// Error (usage) for words that say nothing, or contradict each other.
quantize::CalibrationOptions calibration_options(const Arguments& arguments);
// What runs the model: as asked for, else ONNX Runtime where it is there, else the reference.
std::string calibration_backend(const Arguments& arguments);

// The ranges of the values of these names: out of the cache, if there is one; the others by running the model, and the
// cache is written then. With a cache and no data of the user's, what the cache lacks is left out, and said.
passes::ValueRanges find_ranges(ConversionJob& job, LayerErrors& measuring, const passes::QdqOptions& options,
                                const std::vector<std::string>& names);

}  // namespace assay::cli
