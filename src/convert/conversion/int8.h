#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convert/conversion/layer_budget.h"
#include "convert/measure/choose_ranges.h"
#include "convert/quantize/qdq_options.h"

namespace assay::convert {

// The greatest loss that a single layer may have.
struct ErrorBound {
  bool is_snr = true;
  double least = 0;  // in dB, or as a cosine
};

struct Int8Conversion {
  QdqOptions options;
  std::optional<ErrorBound> bound;
  LayerTrials trials = {};
  bool reports_errors = false;  // of each layer; does not change what is converted
};

// Says between which numbers values lie: because it knows, or by measuring.
class RangeSource {
 public:
  virtual ~RangeSource() = default;
  // Ranges of the named values of the model as it is before its layers are converted; values without a range stay
  // float. Called once, also if no ranges are needed.
  virtual RangeCandidate ranges(const ir::Model& model, const std::vector<std::string>& names,
                                const QdqOptions& options) = 0;
};

// Readies a model for convert_to_int8, as that does it first, and names the values whose ranges it will need.
std::vector<std::string> prepare_for_int8(const Conversion& conversion, const QdqOptions& options);
// Layers compute on integers, or their products on float8. What a runtime merges is merged first: exclusions by name
// hold for what takes the place of a node. With a bound, layers that would lose more, each alone, stay float; with a
// budget, those that cost the outputs most; and with either all layers of a model that is quantized already. Errors:
// those of plan_qdq, of the source and, where it measures, of the host.
results::ConversionReport convert_to_int8(const Conversion& conversion, const Int8Conversion& wanted,
                                          RangeSource& source);

}  // namespace assay::convert
