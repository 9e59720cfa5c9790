#include "convert/quantize/weight_only.h"
#include "tasks/convert/layer_errors.h"

namespace assay::tasks {
namespace {

void add_layers(const convert::WeightReport& found, const std::string& type, results::ConversionReport& report) {
  for (const convert::WeightLayer& layer : found.layers) {
    results::ConvertedLayer added = {layer.name, layer.op, layer.converted ? type : "float", layer.reason, {}, {}};
    if (layer.error) {
      added.error = {.max_abs = layer.error->max_abs, .cosine = layer.error->cosine, .snr_db = layer.error->snr_db};
    }
    report.layers.push_back(std::move(added));
  }
}

}  // namespace

void convert_weights(const WeightsRequest& request, ConversionJob& job) {
  results::ConversionReport& report = job.report;
  const std::string type = request.options.bits == 4 ? "int4" : "int8";
  report.conversion = type + " weights";
  LayerErrors errors(job, request.backend);
  const convert::WeightReport found =
      convert::compress_weights(job.loaded.model, job.rewriter, request.options, job.loaded.findings);
  report.changed = report.changed || found.changed;
  report.weights_converted = found.weights;
  report.weight_bytes_before = found.bytes_before;
  report.weight_bytes_after = found.bytes_after;
  add_layers(found, type, report);
  std::vector<ir::NodeId> nodes;
  for (const convert::WeightLayer& layer : found.layers) nodes.push_back(layer.node);
  if (report.changed && request.reports_errors) errors.measure(nodes);
  job.observer.on_conversion(report);
}

}  // namespace assay::tasks
