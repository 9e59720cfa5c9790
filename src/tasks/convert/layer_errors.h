#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tasks/convert/measurement.h"

namespace assay::tasks {

// What a conversion to integers costs each layer. Nodes and their results keep their names in such a conversion.
class LayerErrors {
 public:
  // `backend`: what measures; empty: ONNX Runtime where it is there, else the reference.
  LayerErrors(ConversionJob& job, std::string backend) : job_(job), backend_(std::move(backend)) {}

  // Runs the model before and after, and enters the errors into the report, whose layers are these nodes. What cannot
  // be measured becomes a finding.
  void measure(const std::vector<ir::NodeId>& nodes);
  // The model with inputs and a backend, for those who need them before. Errors of Measurement.
  Measurement& measurement();

 private:
  ConversionJob& job_;
  std::string backend_;
  std::optional<Measurement> measurement_;
};

// The errors that a measurement gives; nothing, and a finding, where the backend fails.
std::map<std::string, results::LayerError> try_to_measure(Measurement& measurement, const ir::Model& converted,
                                                          Diagnostics& findings);

}  // namespace assay::tasks
