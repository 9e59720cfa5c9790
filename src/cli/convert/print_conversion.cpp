#include "cli/convert/print_conversion.h"

#include <fmt/format.h>

#include "report/edit/text_conversion.h"

namespace assay::cli {
namespace {

// Without -v.
constexpr size_t kMostLines = 10;
constexpr size_t kMostRows = 20;

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

bool is_half(const results::ConversionReport& report) {
  return report.conversion == "float16" || report.conversion == "bfloat16";
}

std::string summary(const results::ConversionReport& report) {
  if (report.conversion == "mended") return report::mending_summary(report);
  return is_half(report) ? report::conversion_summary(report) : report::integer_summary(report);
}

}  // namespace

void print_conversion(const results::ConversionReport& report, bool wants_errors, Log& log) {
  for (const results::WeightLoss& weight : report.weights) {
    log.write(weight.overflows > 0 ? LogLevel::warning : LogLevel::verbose, report::weight_line(weight, report));
  }
  print_kept_layers(report, log);
  log.info(summary(report));
  if (report.output_snr_db) log.info(fmt::format("Outputs keep {:.1f} dB on these inputs", *report.output_snr_db));
  const std::string sensitivity = report::sensitivity_table(report, kMostRows);
  if (!sensitivity.empty()) log.info(sensitivity);
  print_error_table(report, wants_errors || is_half(report) ? LogLevel::info : LogLevel::verbose, log);
}

}  // namespace assay::cli
