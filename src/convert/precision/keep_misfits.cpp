#include "convert/precision/keep_misfits.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "convert/precision/half_kernels.h"
#include "ir/walk.h"

namespace assay::convert {
namespace {

// The greatest magnitude of the node's operands and results that were measured.
std::optional<double> magnitude_of(const ir::Model& model, const ir::Node& node,
                                   const calibrate::Magnitudes& magnitudes) {
  std::optional<double> magnitude;
  const auto look = [&](ir::ValueId value) {
    if (!value || model[value].graph != model.main_graph()) return;
    const auto found = magnitudes.find(model.text(model[value].name));
    if (found != magnitudes.end()) magnitude = std::max(magnitude.value_or(0), double{found->second});
  };
  for (const ir::Use& use : node.operands) look(use.value);
  for (const ir::ValueId value : node.results) look(value);
  return magnitude;
}

// The reason for which such values do not fit; empty: they do.
std::string misfit(double magnitude, double largest, tensor::DType half) {
  if (magnitude > largest) return fmt::format("its values reach {:.3g}", magnitude);
  const bool is_tiny = magnitude > 0 && magnitude < smallest_normal_half(half);
  return is_tiny ? fmt::format("its values are not above {:.3g}", magnitude) : "";
}

}  // namespace

void keep_misfits(const ir::Model& model, const calibrate::Magnitudes& magnitudes, double margin,
                  HalfOptions& options) {
  const double largest = largest_half(options.half) * margin;
  for (const ir::NodeId node : ir::live_nodes(model)) {
    const std::optional<double> magnitude = magnitude_of(model, model[node], magnitudes);
    if (!magnitude) continue;
    std::string reason = misfit(*magnitude, largest, options.half);
    if (!reason.empty()) options.choice.kept[node] = std::move(reason);
    options.measured[node] = *magnitude;
  }
}

}  // namespace assay::convert
