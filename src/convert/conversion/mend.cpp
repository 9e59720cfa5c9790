#include "convert/conversion/mend.h"

#include "convert/precision/clip_casts.h"
#include "convert/precision/widen_layers.h"

namespace assay::convert {
namespace {

results::ConvertedLayer described(const Layer& layer, std::string_view precision) {
  results::ConvertedLayer described;
  described.name = layer.name;
  described.op = layer.op;
  described.precision = layer.converted ? precision : "as it is";
  described.reason = layer.reason;
  return described;
}

}  // namespace

results::ConversionReport mend(const Conversion& conversion, const MendingConversion& wanted) {
  results::ConversionReport report;
  report.conversion = "mended";
  const WideningReport widened =
      widen_layers(conversion.model, conversion.rewriter, wanted.widened, conversion.findings);
  for (const Layer& layer : widened.layers) report.layers.push_back(described(layer, "float32"));
  const std::vector<Layer> casts =
      clip_casts(conversion.model, conversion.rewriter, wanted.clipped, conversion.findings);
  for (const Layer& cast : casts) report.layers.push_back(described(cast, "clipped"));
  report.clips_added = converted_nodes(casts).size();
  report.changed = widened.changed || report.clips_added > 0;
  report.casts_added = widened.edits.casts_added;
  report.casts_removed = widened.edits.casts_removed;
  report.weights_converted = widened.edits.weights;
  report.weight_bytes_before = widened.edits.weight_bytes_before;
  report.weight_bytes_after = widened.edits.weight_bytes_after;
  return report;
}

}  // namespace assay::convert
