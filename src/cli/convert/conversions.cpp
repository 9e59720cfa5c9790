#include <array>

#include "cli/convert/conversion.h"
#include "cli/convert/half.h"

namespace assay::cli {

std::span<const Conversion> conversions() {
  static constexpr std::array<Conversion, 1> kConversions = {{
      {half_suffix, half_groups, convert_to_half},
  }};
  return kConversions;
}

}  // namespace assay::cli
