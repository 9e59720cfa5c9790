#include "cli/convert/layer_errors.h"

#include "base/error.h"
#include "cli/convert/calibration.h"
#include "report/text_conversion.h"

namespace assay::cli {
namespace {

// Without -v.
constexpr size_t kMostLines = 10;
constexpr size_t kMostRows = 20;

}  // namespace

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

void print_kept_layers(const results::ConversionReport& report, Log& log) {
  const size_t most = log.enabled(LogLevel::verbose) ? report.layers.size() : kMostLines;
  size_t kept = 0;
  for (const results::ConvertedLayer& layer : report.layers) {
    if (!layer.reason.empty() && ++kept <= most) log.info(report::kept_line(layer));
  }
  if (kept > most) log.info(fmt::format("... and {} more (-v shows all)", kept - most));
}

void print_error_table(const results::ConversionReport& report, LogLevel level, Log& log) {
  const size_t most = log.enabled(LogLevel::verbose) ? report.layers.size() : kMostRows;
  const std::string table = report::error_table(report, most);
  if (!table.empty()) log.write(level, "Errors:\n" + table);
}

void print_integers(const ConversionJob& job) {
  Log& log = job.environment.log;
  print_kept_layers(job.report, log);
  log.info(report::integer_summary(job.report));
  print_error_table(job.report, job.arguments.flag("--report-error") ? LogLevel::info : LogLevel::verbose, log);
}

}  // namespace assay::cli
