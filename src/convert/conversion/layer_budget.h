#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convert/conversion/conversion.h"

namespace assay::convert {

// The loss that a conversion may cost.
struct ErrorBudget {
  enum class Metric : uint8_t {
    snr,   // of the worst output, in dB: at least
    top1,  // share of rows whose greatest element is another: at most
  };
  Metric metric = Metric::snr;
  double bound = 0;
};

// Layers are tried one by one, and with a budget those that cost most are left out.
struct LayerTrials {
  bool are_wanted = false;
  std::optional<ErrorBudget> budget = {};
};

// Layers that stay as they are, and why.
using KeptLayers = std::map<ir::NodeId, std::string>;

// A layer that can be converted.
struct TrialLayer {
  ir::NodeId node;
  std::string name;
  uint64_t macs = 0;  // multiply-accumulates that conversion makes cheaper; 0: bytes alone count
};

// A conversion whose layers can be left out one by one.
class LayeredConversion {
 public:
  struct Bytes {
    uint64_t before = 0;  // of the weights that are converted
    uint64_t after = 0;
  };

  virtual ~LayeredConversion() = default;
  virtual std::vector<TrialLayer> layers() = 0;
  // Converts a copy of the model but for these layers; a probe may use the quickest way to round.
  virtual Bytes convert(ir::Model& model, const KeptLayers& kept, bool is_probe) = 0;
};

// Converts each layer alone and looks at the outputs, orders layers by the noise that each saved multiplication costs,
// or each byte where multiplications stay as they are, and with a budget finds the fewest layers, the noisiest first,
// without which it holds: these are the result. Each try is measured as a whole. Error (unsupported) if the backend
// fails, or the model has no output of floats.
KeptLayers choose_layers(const Conversion& conversion, LayeredConversion& layered,
                         const std::optional<ErrorBudget>& budget, results::ConversionReport& report);

}  // namespace assay::convert
