#include <algorithm>

#include <fmt/format.h>

#include "convert/precision/convert_floats.h"
#include "convert/precision/keep_misfits.h"
#include "tasks/convert/layer_errors.h"

namespace assay::tasks {
namespace {

using tensor::DType;

// Converts, and keeps account of what the report needs while nodes and values still have their old names.
class HalfJob {
 public:
  HalfJob(const HalfRequest& request, ConversionJob& job) : request_(request), job_(job), options_(request.options) {}

  void run() {
    job_.report.conversion = tensor::name(options_.half);
    if (request_.measures_ranges || request_.reports_errors) measurement_.emplace(job_, request_.backend);
    if (request_.measures_ranges) {
      magnitudes_ = convert::keep_misfits(model(), measurement_->measurement().magnitudes(), request_.margin, options_);
    }
    note_results();
    job_.observer.info(fmt::format("Converting float tensors to {}", job_.report.conversion));
    convert();
    if (measurement_) measure_errors();
    job_.observer.on_conversion(job_.report);
  }

 private:
  ir::Model& model() { return job_.loaded.model; }

  void note_results() {
    if (!measurement_) return;
    for (const ir::NodeId node : ir::nodes(model(), model().main_graph())) {
      for (const ir::ValueId value : model()[node].results) {
        if (value) results_[node].emplace_back(model().text(model()[value].name));
      }
    }
  }

  void convert() {
    results::ConversionReport& report = job_.report;
    const convert::HalfReport found = convert::convert_floats(model(), job_.rewriter, options_, job_.loaded.findings);
    report.changed = report.changed || found.changed;
    report.casts_added = found.edits.casts_added;
    report.casts_removed = found.edits.casts_removed;
    report.weights_converted = found.edits.weights;
    report.weight_bytes_before = found.edits.weight_bytes_before;
    report.weight_bytes_after = found.edits.weight_bytes_after;
    for (const convert::Layer& layer : found.layers) add_layer(layer);
    for (const auto& [value, survey] : found.weights) {
      if (survey.overflows == 0 && survey.flushed == 0) continue;
      report.weights.push_back(
          {std::string(model().text(model()[value].name)), survey.largest, survey.overflows, survey.flushed});
    }
  }

  void add_layer(const convert::Layer& layer) {
    results::ConvertedLayer added;
    added.name = layer.name;
    added.op = layer.op;
    added.precision = tensor::name(layer.converted ? options_.half : DType::float32);
    added.reason = layer.reason;
    if (const auto found = magnitudes_.find(layer.node); found != magnitudes_.end()) added.magnitude = found->second;
    nodes_.push_back(layer.node);
    job_.report.layers.push_back(std::move(added));
  }

  void measure_errors() {
    const auto errors = try_to_measure(measurement_->measurement(), model(), job_.loaded.findings);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const std::string& name : results_[nodes_[i]]) {
        const auto found = errors.find(name);
        if (found == errors.end()) continue;
        std::optional<results::LayerError>& known = job_.report.layers[i].error;
        known = known ? convert::worse(*known, found->second) : found->second;
      }
    }
  }

  const HalfRequest& request_;
  ConversionJob& job_;
  convert::HalfOptions options_;
  std::optional<Measuring> measurement_;
  std::map<ir::NodeId, double> magnitudes_;
  std::map<ir::NodeId, std::vector<std::string>> results_;  // names, before they change
  std::vector<ir::NodeId> nodes_;                           // of the report's layers
};

}  // namespace

void convert_to_half(const HalfRequest& request, ConversionJob& job) { HalfJob(request, job).run(); }

}  // namespace assay::tasks
