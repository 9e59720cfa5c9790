#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tasks/convert/measuring.h"

namespace assay::tasks {

// The loss of each layer in a conversion to integers. Nodes and their results keep their names in it.
class LayerErrors {
 public:
  // `backend` measures; empty: ONNX Runtime if available, otherwise the reference.
  LayerErrors(ConversionJob& job, std::string backend) : job_(job), backend_(std::move(backend)) {}

  // Runs the model before and after and adds the errors to the report, whose layers are these nodes. Values that cannot
  // be measured become findings.
  void measure(const std::vector<ir::NodeId>& nodes);
  // The model with inputs and a backend, for callers that need them earlier. Errors of Measuring.
  Measuring& measuring();

 private:
  ConversionJob& job_;
  std::string backend_;
  std::optional<Measuring> measuring_;
};

// The errors from a measurement; if the backend fails, nothing and a finding.
std::map<std::string, results::LayerError> try_to_measure(convert::Measurement& measurement, const ir::Model& converted,
                                                          Diagnostics& findings);

}  // namespace assay::tasks
