#pragma once

#include "cli/convert/conversion.h"

namespace assay::cli {

// Layers that work on int8: the members of their Conversion.
std::string_view int8_suffix(const Arguments& arguments, bool is_onnx);
std::vector<OptionGroup> int8_groups();
void convert_to_int8(ConversionJob& job);

}  // namespace assay::cli
