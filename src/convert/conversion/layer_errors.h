#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convert/conversion/conversion.h"

namespace assay::convert {

// The errors of the values of a converted model, by name, or of its outputs alone; where the backend fails, nothing and
// a finding.
std::map<std::string, results::LayerError> try_to_measure(Measurement& measurement, const ir::Model& converted,
                                                          Diagnostics& findings, bool of_outputs = false);

// The loss of each layer in a conversion in which nodes and their results keep their names.
class LayerErrors {
 public:
  // Before the conversion.
  LayerErrors(const Conversion& conversion, bool is_wanted);
  // After it: adds the errors to the report, whose layers are these nodes.
  void measure(const std::vector<ir::NodeId>& nodes, results::ConversionReport& report);

 private:
  const Conversion& conversion_;
  std::optional<ir::Model> original_;  // if they are wanted
};

}  // namespace assay::convert
