#pragma once

#include "cli/convert/conversion.h"

namespace assay::cli {

// Edits of models that come with 16-bit floats: the members of their Conversion.
std::string_view mend_suffix(const Arguments& arguments, Target target);
std::vector<OptionGroup> mend_groups();
void request_mend(const Arguments& arguments, tasks::ConvertRequest& request);

}  // namespace assay::cli
