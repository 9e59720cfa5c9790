#include <array>

#include "cli/convert/conversion.h"
#include "cli/convert/half.h"
#include "cli/convert/int8.h"
#include "cli/convert/weights.h"
#include "passes/pipelines.h"

namespace assay::cli {

void inline_functions(ir::Model& model, ir::Rewriter& rewriter) {
  static constexpr std::array<std::string_view, 1> kPasses = {"inline-functions"};
  const passes::Options options;
  if (!model.functions().empty()) passes::Pipeline(model, rewriter, options).run(kPasses);
}

std::span<const Conversion> conversions() {
  static constexpr std::array<Conversion, 3> kConversions = {{
      {int8_suffix, int8_groups, convert_to_int8},
      {weights_suffix, weights_groups, convert_weights},
      {half_suffix, half_groups, convert_to_half},
  }};
  return kConversions;
}

}  // namespace assay::cli
