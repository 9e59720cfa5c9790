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

std::string_view type_word(const WeightOptions& options) {
  switch (options.type) {
    case WeightType::fp8:
      return "fp8";
    case WeightType::nvfp4:
      return "nvfp4";
    case WeightType::mxfp4:
      return "mxfp4";
    case WeightType::nf4:
      return "nf4";
    case WeightType::integer:
      break;
  }
  return options.bits == 4 ? "int4" : "int8";
}

}  // namespace

results::ConversionReport convert_weights(const Conversion& conversion, const WeightConversion& wanted) {
  results::ConversionReport report;
  const std::string type(type_word(wanted.options));
  report.conversion = type + " weights";
  MomentsOf moments_of;
  if (wanted.options.algorithm != WeightAlgorithm::rtn) {
    Measurement& original = conversion.host.measure(conversion.model);
    moments_of = [&original](const std::vector<std::string>& names) { return original.moments(names); };
  }
  WeightOptions options = wanted.options;
  if (wanted.budget || wanted.is_sensitivity_wanted)
    choose_weights(conversion, wanted.budget, moments_of, options, report);
  LayerErrors errors(conversion, wanted.reports_errors);
  const WeightReport found =
      compress_weights(conversion.model, conversion.rewriter, options, conversion.findings, moments_of);
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
