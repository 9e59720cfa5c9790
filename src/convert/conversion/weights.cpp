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

class LayeredWeights final : public LayeredConversion {
 public:
  LayeredWeights(const Conversion& conversion, const WeightOptions& options, const WeightServices& services)
      : conversion_(conversion), options_(options), services_(services) {}

  std::vector<TrialLayer> layers() override {
    ir::Model model = conversion_.model.copy();
    std::vector<TrialLayer> layers;
    for (const WeightLayer& layer : compress(model, options_, true).layers) {
      if (layer.converted) layers.push_back({.node = layer.node, .name = layer.name});
    }
    return layers;
  }

  // In a probe each number is rounded by itself: what is looked for is the order of layers.
  Bytes convert(ir::Model& model, const KeptLayers& kept, bool is_probe) override {
    WeightOptions options = options_;
    options.choice.kept.insert(kept.begin(), kept.end());
    const WeightReport made = compress(model, options, is_probe);
    return {made.bytes_before, made.bytes_after};
  }

 private:
  WeightReport compress(ir::Model& model, const WeightOptions& options, bool is_probe) {
    ir::Rewriter rewriter(model);
    Diagnostics repeated;
    WeightServices services = services_;
    if (is_probe) services.moments_of = {};
    return compress_weights(model, rewriter, options, repeated, services);
  }

  const Conversion& conversion_;
  const WeightOptions& options_;
  const WeightServices& services_;
};

}  // namespace

results::ConversionReport convert_weights(const Conversion& conversion, const WeightConversion& wanted) {
  results::ConversionReport report;
  const std::string type(type_word(wanted.options));
  report.conversion = type + " weights";
  WeightServices services;
  services.store = [&host = conversion.host](tensor::Tensor made) { return host.stored(std::move(made)); };
  if (wanted.options.algorithm != WeightAlgorithm::rtn) {
    Measurement& original = conversion.host.measure(conversion.model);
    services.moments_of = [&original](const std::vector<std::string>& names) { return original.moments(names); };
  }
  WeightOptions options = wanted.options;
  if (wanted.trials.are_wanted) {
    LayeredWeights layered(conversion, options, services);
    options.choice.kept.merge(choose_layers(conversion, layered, wanted.trials.budget, report));
  }
  LayerErrors errors(conversion, wanted.reports_errors);
  const WeightReport found =
      compress_weights(conversion.model, conversion.rewriter, options, conversion.findings, services);
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
