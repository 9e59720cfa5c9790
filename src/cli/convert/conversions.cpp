#include <array>

#include "cli/convert/conversion.h"
#include "cli/convert/half.h"
#include "cli/convert/int8.h"
#include "cli/convert/mend.h"
#include "cli/convert/weights.h"

namespace assay::cli {

std::span<const Conversion> conversions() {
  static constexpr std::array<Conversion, 4> kConversions = {{
      {int8_suffix, int8_groups, request_int8},
      {weights_suffix, weights_groups, request_weights},
      {half_suffix, half_groups, request_half},
      {mend_suffix, mend_groups, request_mend},
  }};
  return kConversions;
}

}  // namespace assay::cli
