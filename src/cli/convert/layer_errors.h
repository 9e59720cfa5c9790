#pragma once

#include <optional>
#include <vector>

#include "cli/convert/measurement.h"

namespace assay::cli {

// What a conversion to integers costs each layer, where `--report-error` asks for it. Nodes and their results keep
// their names in such a conversion.
class LayerErrors {
 public:
  explicit LayerErrors(ConversionJob& job) : job_(job) {}

  // Runs the model before and after, and enters the errors into the report, whose layers are these nodes. What cannot
  // be measured becomes a finding.
  void measure(const std::vector<ir::NodeId>& nodes);
  // The model with inputs and a backend, for those who need them before. Errors of Measurement.
  Measurement& measurement();

 private:
  ConversionJob& job_;
  std::optional<Measurement> measurement_;
};

// What stays float and why, and what the conversion cost; without -v only the first lines and the worst rows.
void print_kept_layers(const results::ConversionReport& report, Log& log);
void print_error_table(const results::ConversionReport& report, LogLevel level, Log& log);
// Both with a summary; the errors at verbose level, unless `--report-error` asks for them.
void print_integers(const ConversionJob& job);

}  // namespace assay::cli
