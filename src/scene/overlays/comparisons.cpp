#include <algorithm>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "results/fields/comparison.h"
#include "scene/overlays/overlays.h"

namespace assay::scene {
namespace {

using results::Overlay;

void set_number(std::vector<float>& column, uint32_t at, double number) {
  if (at < column.size()) column[at] = static_cast<float>(number);
}

// A field that is shown, and its number in a row of a report.
template <typename Row>
struct Field {
  std::string_view name;
  std::string_view unit;
  std::string_view scale;
  std::string_view description;
  double (*number)(const Row& row);
  bool is_of_values = false;  // shown for values too
};

template <typename Row>
void add_fields(std::span<const Field<Row>> fields, Overlay& overlay) {
  for (const Field<Row>& field : fields) {
    overlay.fields.push_back(
        {std::string(field.name), std::string(field.unit), std::string(field.scale), std::string(field.description)});
  }
}

template <typename Row>
void add_numbers(std::span<const Field<Row>> fields, const Row& row, std::string_view side,
                 const std::pair<uint32_t, uint32_t>& places, const SceneNames& names, Overlay& overlay) {
  const auto& [item, value] = places;
  for (const Field<Row>& field : fields) {
    const double number = field.number(row);
    set_number(column_of(overlay, side, field.name, false, names.item_count()), item, number);
    if (field.is_of_values) {
      set_number(column_of(overlay, side, field.name, true, names.value_count()), value, number);
    }
  }
}

using results::LayerVerdict;
constexpr Field<LayerVerdict> kAccuracyFields[] = {
    {"excess", "", "diverging", "introduced error over what rounding allows; above 1 the layer is accused",
     [](const LayerVerdict& layer) { return layer.excess; }},
    {"introduced", "", "log", "error that the layer adds on the operands that it was given",
     [](const LayerVerdict& layer) { return layer.introduced; }},
    {"inherited", "", "log", "error that the layer would have if it were exact",
     [](const LayerVerdict& layer) { return layer.inherited; }},
    {"total", "", "log", "error of the result", [](const LayerVerdict& layer) { return layer.total; }, true},
    {"tolerance", "", "log", "what may be introduced where it is worst",
     [](const LayerVerdict& layer) { return layer.tolerance; }},
    {"magnitude", "", "log", "size of the result", [](const LayerVerdict& layer) { return layer.magnitude; }},
};

using results::PairMetrics;
constexpr Field<PairMetrics> kRunFields[] = {
    {"max_abs", "", "log", "greatest absolute difference",
     [](const PairMetrics& metrics) { return metrics.absolute.greatest; }, true},
    {"max_rel", "", "log", "greatest relative difference",
     [](const PairMetrics& metrics) { return metrics.relative.greatest; }, true},
    {"mean_abs", "", "log", "mean absolute difference",
     [](const PairMetrics& metrics) { return metrics.absolute.mean; }},
    {"failed", "", "linear", "share of elements beyond both tolerances",
     [](const PairMetrics& metrics) {
       return static_cast<double>(metrics.failed_count) / static_cast<double>(std::max<uint64_t>(1, metrics.count));
     }},
};

using results::ValueRange;
constexpr Field<ValueRange> kRangeFields[] = {
    {"least", "", "log", "least magnitude that is not 0", [](const ValueRange& range) { return range.least; }, true},
    {"greatest", "", "log", "greatest magnitude", [](const ValueRange& range) { return range.greatest; }, true},
};

using results::ValueBounds;
constexpr Field<ValueBounds> kBoundFields[] = {
    {"low", "", "linear", "least number that is possible", [](const ValueBounds& bounds) { return bounds.low; }},
    {"high", "", "linear", "greatest number that is possible", [](const ValueBounds& bounds) { return bounds.high; }},
};

// The name of a runner without its number and time.
std::string side_name(const std::string& runner) { return runner.substr(0, runner.find("-runner-")); }

void add_guilty(const results::Culprit& culprit, const SceneNames& names, Overlay& overlay) {
  const LayerVerdict& layer = culprit.error;
  results::OverlayNote note;
  note.item = names.item(layer.node);
  note.severity = "error";
  note.code = culprit.cause;
  note.text = fmt::format("{} introduces {:.3g}, {:.3g} times what it may", layer.side, layer.introduced, layer.excess);
  if (!culprit.reason.empty()) note.text += ": " + culprit.reason;
  overlay.notes.push_back(std::move(note));
  results::OverlayRow row;
  row.words = {{"layer", layer.node},
               {"op", layer.op},
               {"side", layer.side},
               {"cause", culprit.cause},
               {"reason", culprit.reason}};
  row.numbers = {{"introduced", layer.introduced},
                 {"excess", layer.excess},
                 {"share_of_output", culprit.share_of_output.value_or(std::numeric_limits<double>::quiet_NaN())}};
  row.items = names.items({layer.node});
  overlay.table.push_back(std::move(row));
}

void add_output(const results::OutputComparison& output, const std::string& side, const SceneNames& names,
                Overlay& overlay) {
  const std::string& name = output.name_a;
  const std::pair places(names.producer(name), names.value(name));
  const double greatest = output.metrics ? output.metrics->absolute.greatest : std::numeric_limits<double>::quiet_NaN();
  if (output.metrics) add_numbers<PairMetrics>(kRunFields, *output.metrics, side, places, names, overlay);
  if (output.passed) return;
  overlay.notes.push_back({places.first, "error", "different",
                           fmt::format("`{}` differs, {}: greatest difference {:.3g}", name, side, greatest), ""});
}

template <typename Row>
void add_values(std::span<const Field<Row>> fields, const std::vector<Row>& rows, const SceneNames& names,
                Overlay& overlay) {
  if (!rows.empty()) add_fields(fields, overlay);
  for (const Row& row : rows) {
    uint32_t item = names.producer(row.value);
    if (item == kNoItem) item = names.item(row.node);
    add_numbers(fields, row, "", {item, names.value(row.value)}, names, overlay);
  }
}

}  // namespace

Overlay accuracy_overlay(const results::AccuracyHunt& report, const SceneNames& names) {
  Overlay overlay;
  overlay.what = "accuracy";
  overlay.title = "errors by layer";
  for (const results::AccuracySide& side : report.sides) overlay.sides.push_back(side.name);
  add_fields<LayerVerdict>(kAccuracyFields, overlay);
  for (const LayerVerdict& layer : report.layers) {
    const std::pair places(names.item(layer.node), names.value(layer.value));
    add_numbers<LayerVerdict>(kAccuracyFields, layer, layer.side, places, names, overlay);
    if (layer.group.empty()) continue;
    std::vector<uint32_t> items = names.items(layer.group);
    if (places.first != kNoItem) items.push_back(places.first);
    overlay.groups.push_back({layer.node, "judged together", std::move(items)});
  }
  for (const results::Culprit& culprit : report.culprits) add_guilty(culprit, names, overlay);
  for (const results::Remedy& remedy : report.remedies) {
    overlay.notes.push_back({kNoItem, remedy.cures ? "info" : "warning", "remedy", remedy.text, ""});
  }
  if (!report.doubt.empty()) overlay.words.emplace_back("verdict", report.doubt);
  return overlay;
}

Overlay run_overlay(const results::RunReport& report, const SceneNames& names) {
  Overlay overlay;
  overlay.what = "run";
  overlay.title = "differences of outputs";
  overlay.words.emplace_back("verdict", results::kVerdictWords[static_cast<size_t>(report.verdict)]);
  add_fields<PairMetrics>(kRunFields, overlay);
  for (const results::PairComparison& pair : report.pairs) {
    const std::string side = side_name(pair.runner_a) + " against " + side_name(pair.runner_b);
    if (pair.iterations.empty()) continue;
    for (const results::OutputComparison& output : pair.iterations.front().outputs) {
      add_output(output, side, names, overlay);
    }
  }
  for (const results::RunnerRun& run : report.runs) {
    if (run.failure.empty()) continue;
    overlay.notes.push_back({kNoItem, "error", "failure", run.runner + ": " + run.failure, ""});
  }
  return overlay;
}

Overlay range_overlay(const results::RangeReport& report, const SceneNames& names) {
  Overlay overlay;
  overlay.what = "range";
  overlay.title = "ranges of values";
  add_values<ValueRange>(kRangeFields, report.values, names, overlay);
  add_values<ValueBounds>(kBoundFields, report.bounds, names, overlay);
  return overlay;
}

Overlay calibration_overlay(const formats::CalibrationCache& cache, const SceneNames& names) {
  constexpr float kSteps = 127;
  Overlay overlay;
  overlay.what = "range";
  overlay.title = "calibrated ranges";
  overlay.words.emplace_back("algorithm", cache.algorithm);
  std::vector<ValueRange> ranges;
  for (const auto& [value, scale] : cache.scales) ranges.push_back({.value = value, .greatest = scale * kSteps});
  add_values<ValueRange>(std::span(kRangeFields).last(1), ranges, names, overlay);
  return overlay;
}

}  // namespace assay::scene
