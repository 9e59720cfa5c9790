#pragma once

#include "cli/convert/conversion.h"

namespace assay::cli {

// Layers that compute in int8: the members of their Conversion.
std::string_view int8_suffix(const Arguments& arguments, Target target);
std::vector<OptionGroup> int8_groups();
void request_int8(const Arguments& arguments, tasks::ConvertRequest& request);

}  // namespace assay::cli
