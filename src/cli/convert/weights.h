#pragma once

#include "cli/convert/conversion.h"

namespace assay::cli {

// Only the weights as small integers: the members of their Conversion.
std::string_view weights_suffix(const Arguments& arguments, Target target);
std::vector<OptionGroup> weights_groups();
void request_weights(const Arguments& arguments, tasks::ConvertRequest& request);

}  // namespace assay::cli
