#include "cli/convert/layer_errors.h"

#include "base/error.h"
#include "cli/convert/calibration.h"
#include "report/text_conversion.h"

namespace assay::cli {

Measurement& LayerErrors::measurement() {
  if (!measurement_) measurement_.emplace(job_, calibration_backend(job_.arguments));
  return *measurement_;
}

void LayerErrors::measure(const std::vector<ir::NodeId>& nodes) {
  using Errors = std::map<std::string, results::LayerError>;
  const std::variant<Errors, Error> measured = attempt([this] { return measurement().errors(job_.loaded.model); });
  if (const Error* error = std::get_if<Error>(&measured)) {
    job_.loaded.findings.warn("error", "", "the errors could not be measured: " + error->line());
    return;
  }
  const Errors& errors = std::get<Errors>(measured);
  const ir::Model& model = job_.loaded.model;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const ir::ValueId value : model[nodes[i]].results) {
      const auto found = value ? errors.find(std::string(model.text(model[value].name))) : errors.end();
      if (found != errors.end()) job_.report.layers[i].error = found->second;
    }
  }
}

void print_integers(const ConversionJob& job) {
  Log& log = job.environment.log;
  const results::ConversionReport& report = job.report;
  for (const results::ConvertedLayer& layer : report.layers) {
    if (!layer.reason.empty()) log.verbose(report::kept_line(layer));
  }
  log.info(report::integer_summary(report));
  const std::string table = report::error_table(report);
  const LogLevel level = job.arguments.flag("--report-error") ? LogLevel::info : LogLevel::verbose;
  if (!table.empty()) log.write(level, "Errors:\n" + table);
}

}  // namespace assay::cli
