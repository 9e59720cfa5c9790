#include "convert/conversion/layer_errors.h"

#include "base/error.h"

namespace assay::convert {

std::map<std::string, results::LayerError> try_to_measure(Measurement& measurement, const ir::Model& converted,
                                                          Diagnostics& findings, bool of_outputs) {
  auto measured =
      attempt([&] { return of_outputs ? measurement.output_errors(converted) : measurement.errors(converted); });
  if (const Error* error = std::get_if<Error>(&measured)) {
    if (error->code() == ErrorCode::cancelled) throw *error;
    findings.warn("error", "", "the errors could not be measured: " + error->line(), error->remedy());
    return {};
  }
  return std::move(std::get<0>(measured));
}

LayerErrors::LayerErrors(const Conversion& conversion, bool is_wanted) : conversion_(conversion) {
  if (is_wanted) original_ = conversion.model.copy();
}

void LayerErrors::measure(const std::vector<ir::NodeId>& nodes, results::ConversionReport& report) {
  if (!original_ || !report.changed) return;
  const ir::Model& model = conversion_.model;
  const auto errors = try_to_measure(conversion_.host.measure(*original_), model, conversion_.findings);
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const ir::ValueId value : model[nodes[i]].results) {
      const auto found = value ? errors.find(std::string(model.text(model[value].name))) : errors.end();
      if (found != errors.end()) report.layers[i].error = found->second;
    }
  }
}

}  // namespace assay::convert
