#include "convert/conversion/weights.h"

#include "convert/conversion/layer_errors.h"
#include "convert/quantize/weight_only.h"

namespace assay::convert {
namespace {

results::ConvertedLayer converted_layer(const WeightLayer& layer, const std::string& type) {
  results::ConvertedLayer made = {layer.name, layer.op, layer.converted ? type : "float", layer.reason, {}, {}};
  if (layer.error) {
    made.error = {.max_abs = layer.error->max_abs, .cosine = layer.error->cosine, .snr_db = layer.error->snr_db};
  }
  return made;
}

}  // namespace

results::ConversionReport convert_weights(const Conversion& conversion, const WeightConversion& wanted) {
  results::ConversionReport report;
  const std::string type = wanted.options.bits == 4 ? "int4" : "int8";
  report.conversion = type + " weights";
  LayerErrors errors(conversion, wanted.reports_errors);
  const WeightReport found =
      compress_weights(conversion.model, conversion.rewriter, wanted.options, conversion.findings);
  report.changed = found.changed;
  report.weights_converted = found.weights;
  report.weight_bytes_before = found.bytes_before;
  report.weight_bytes_after = found.bytes_after;
  std::vector<ir::NodeId> nodes;
  for (const WeightLayer& layer : found.layers) {
    nodes.push_back(layer.node);
    report.layers.push_back(converted_layer(layer, type));
  }
  errors.measure(nodes, report);
  return report;
}

}  // namespace assay::convert
