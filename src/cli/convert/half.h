#pragma once

#include "cli/convert/conversion.h"

namespace assay::cli {

// Float16 and bfloat16: the members of their Conversion.
std::string_view half_suffix(const Arguments& arguments, Target target);
std::vector<OptionGroup> half_groups();
void request_half(const Arguments& arguments, tasks::ConvertRequest& request);

}  // namespace assay::cli
