#include "report/edit/text_conversion.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::report {
namespace {

constexpr double kMilli = 1e3;

// Multiply-accumulates that integers take over.
std::string counted(uint64_t macs) { return macs > 0 ? fmt::format("{}", macs) : "-"; }

}  // namespace

std::string conversion_summary(const results::ConversionReport& report) {
  if (!report.changed) return fmt::format("There is nothing to convert to {}", report.conversion);
  const auto converted = std::ranges::count(report.layers, std::string(), &results::ConvertedLayer::reason);
  return fmt::format("Converted {} of {} layer(s) and {} weight(s) of {} to {}; Casts: {} added, {} removed", converted,
                     report.layers.size(), report.weights_converted, human_bytes(report.weight_bytes_before),
                     report.conversion, report.casts_added, report.casts_removed);
}

std::string integer_summary(const results::ConversionReport& report) {
  if (!report.changed) return fmt::format("There is nothing to convert to {}", report.conversion);
  const auto converted = std::ranges::count(report.layers, std::string(), &results::ConvertedLayer::reason);
  return fmt::format("Converted {} of {} layer(s) to {}: {} activation(s), {} weight(s) of {}, now {}", converted,
                     report.layers.size(), report.conversion, report.activations, report.weights_converted,
                     human_bytes(report.weight_bytes_before), human_bytes(report.weight_bytes_after));
}

std::string mending_summary(const results::ConversionReport& report) {
  if (!report.changed) return "There is nothing to mend";
  const auto mended = std::ranges::count(report.layers, std::string(), &results::ConvertedLayer::reason);
  return fmt::format("Mended {} of {} layer(s); Clips: {} added; Casts: {} added, {} removed", mended,
                     report.layers.size(), report.clips_added, report.casts_added, report.casts_removed);
}

std::string kept_line(const results::ConvertedLayer& layer) {
  return fmt::format("node `{}` ({}) stays {}: {}", printable(layer.name), printable(layer.op), layer.precision,
                     layer.reason);
}

std::string weight_line(const results::WeightLoss& weight, const results::ConversionReport& report) {
  std::string text = fmt::format("weight `{}`:", printable(weight.name));
  if (weight.overflows > 0) {
    text += fmt::format(" {} number(s) beyond {}, up to {:.3g}", weight.overflows, report.conversion, weight.largest);
  }
  if (weight.flushed > 0) {
    text += fmt::format("{} {} number(s) too small for {}", weight.overflows > 0 ? "," : "", weight.flushed,
                        report.conversion);
  }
  return text;
}

std::string error_table(const results::ConversionReport& report, size_t most) {
  std::vector<const results::ConvertedLayer*> layers;
  for (const results::ConvertedLayer& layer : report.layers) {
    if (layer.error) layers.push_back(&layer);
  }
  if (layers.empty()) return "";
  const size_t all = layers.size();
  if (all > most) {
    std::ranges::stable_sort(layers, [](const auto* a, const auto* b) { return a->error->snr_db < b->error->snr_db; });
    layers.resize(most);
  }
  std::string text =
      fmt::format("{:>12}  {:>12}  {:>15}  {:>8}  layer", "max abs", "max rel", "cosine distance", "SNR dB");
  for (const results::ConvertedLayer* layer : layers) {
    text += fmt::format("\n{:12.5g}  {:12.5g}  {:15.4g}  {:8.2f}  {} ({})", layer->error->max_abs,
                        layer->error->max_rel, std::max(0.0, 1 - layer->error->cosine), layer->error->snr_db,
                        printable(layer->name), printable(layer->op));
  }
  if (all > most) text += fmt::format("\n... and {} more that lost less (-v shows all)", all - most);
  return text;
}

std::string sensitivity_table(const results::ConversionReport& report, size_t most) {
  if (report.sensitivity.empty()) return "";
  std::vector<results::LayerSensitivity> layers = report.sensitivity;
  std::ranges::stable_sort(layers, {}, &results::LayerSensitivity::output_snr_db);
  std::string text =
      fmt::format("Outputs with one layer converted:\n{:>8}  {:>12}  {:>14}  layer", "SNR dB", "bytes saved", "macs");
  for (size_t i = 0; i < std::min(layers.size(), most); ++i) {
    const auto saved = static_cast<int64_t>(layers[i].bytes_before) - static_cast<int64_t>(layers[i].bytes_after);
    text += fmt::format("\n{:8.2f}  {:12}  {:>14}  {}", layers[i].output_snr_db, saved, counted(layers[i].macs),
                        printable(layers[i].name));
  }
  if (layers.size() > most) text += fmt::format("\n... and {} more that cost less", layers.size() - most);
  text += fmt::format(
      "\nAll of them without those that cost most for what they save:\n{:>8}  {:>12}  {:>14}  {:>15}  {:>8}  {:>9}",
      "left out", "bytes", "macs", "expected SNR dB", "measured", "ms");
  const size_t step = std::max<size_t>(1, report.points.size() / std::max<size_t>(most, 1));
  for (size_t i = 0; i < report.points.size(); ++i) {
    const results::ConversionPoint& point = report.points[i];
    if (i % step != 0 && !point.measured && !point.seconds) continue;
    text +=
        fmt::format("\n{:8}  {:12}  {:>14}  {:>15.2f}  {:>8}  {:>9}", point.left_out, point.bytes, counted(point.macs),
                    point.expected_snr_db, point.measured ? fmt::format("{:.4g}", *point.measured) : "-",
                    point.seconds ? fmt::format("{:.3f}", *point.seconds * kMilli) : "-");
  }
  return text;
}

}  // namespace assay::report
