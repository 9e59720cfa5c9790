#include "convert/conversion/half.h"

#include <fmt/format.h>

#include "convert/conversion/layer_errors.h"
#include "convert/precision/convert_floats.h"
#include "convert/precision/keep_misfits.h"

namespace assay::convert {
namespace {

using tensor::DType;

// Converts, and keeps account of what the report needs while nodes and values still have their old names.
class HalfOrder {
 public:
  HalfOrder(const Conversion& conversion, const HalfConversion& wanted)
      : conversion_(conversion), wanted_(wanted), options_(wanted.options) {}

  results::ConversionReport run() {
    report_.conversion = tensor::name(options_.half);
    if (wanted_.measures_ranges || wanted_.reports_errors) measurement_ = &conversion_.host.measure(model());
    if (wanted_.measures_ranges) {
      keep_misfits(model(), measurement_->magnitudes(), wanted_.margin, options_);
    }
    note_results();
    conversion_.host.info(fmt::format("Converting float tensors to {}", report_.conversion));
    convert();
    if (measurement_) measure_errors();
    return std::move(report_);
  }

 private:
  ir::Model& model() { return conversion_.model; }

  void note_results() {
    if (!measurement_) return;
    for (const ir::NodeId node : ir::nodes(model(), model().main_graph())) {
      for (const ir::ValueId value : model()[node].results) {
        if (value) results_[node].emplace_back(model().text(model()[value].name));
      }
    }
  }

  void convert() {
    const HalfReport found = convert_floats(model(), conversion_.rewriter, options_, conversion_.findings);
    report_.changed = found.changed;
    report_.casts_added = found.edits.casts_added;
    report_.casts_removed = found.edits.casts_removed;
    report_.weights_converted = found.edits.weights;
    report_.weight_bytes_before = found.edits.weight_bytes_before;
    report_.weight_bytes_after = found.edits.weight_bytes_after;
    for (const Layer& layer : found.layers) add_layer(layer);
    for (const auto& [value, survey] : found.weights) {
      if (survey.overflows == 0 && survey.flushed == 0) continue;
      report_.weights.push_back(
          {std::string(model().text(model()[value].name)), survey.largest, survey.overflows, survey.flushed});
    }
  }

  void add_layer(const Layer& layer) {
    results::ConvertedLayer added;
    added.name = layer.name;
    added.op = layer.op;
    added.precision = tensor::name(layer.converted ? options_.half : DType::float32);
    added.reason = layer.reason;
    const auto measured = options_.measured.find(layer.node);
    if (measured != options_.measured.end()) added.magnitude = measured->second;
    nodes_.push_back(layer.node);
    report_.layers.push_back(std::move(added));
  }

  void measure_errors() {
    const auto errors = try_to_measure(*measurement_, model(), conversion_.findings);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const std::string& name : results_[nodes_[i]]) {
        const auto found = errors.find(name);
        if (found == errors.end()) continue;
        std::optional<results::LayerError>& known = report_.layers[i].error;
        known = known ? worse(*known, found->second) : found->second;
      }
    }
  }

  const Conversion& conversion_;
  const HalfConversion& wanted_;
  HalfOptions options_;
  results::ConversionReport report_;
  Measurement* measurement_ = nullptr;                      // if something is measured
  std::map<ir::NodeId, std::vector<std::string>> results_;  // names, before they change
  std::vector<ir::NodeId> nodes_;                           // of the report's layers
};

}  // namespace

results::ConversionReport convert_to_half(const Conversion& conversion, const HalfConversion& wanted) {
  return HalfOrder(conversion, wanted).run();
}

}  // namespace assay::convert
