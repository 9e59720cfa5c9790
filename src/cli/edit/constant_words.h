#pragma once

#include <string>
#include <string_view>

#include "tasks/edit.h"

namespace assay::cli {

// `name=value`: a number or a list of numbers as parse_attribute reads them, or a file of one tensor, as in
// `scale=scale.npy`. Error (usage) for anything else; (io, parse) for the file.
surgery::NamedConstant parse_constant(std::string_view option, std::string_view word);

// The tensor of a file that holds one; errors name the option.
tensor::Tensor load_one(std::string_view option, const std::string& path);

}  // namespace assay::cli
