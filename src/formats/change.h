#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/combine.h"

namespace assay::formats {

// Arrays of a name, or that a wildcard matches, become another type.
struct ArrayCast {
  std::string pattern = "*";
  tensor::DType dtype = tensor::DType::undefined;
};

// Changes to the arrays of files, in this order.
struct DataChanges {
  std::string runner;                 // keep the outputs of the runners that this wildcard matches; empty: of all
  std::vector<std::string> selected;  // keep the arrays that one of these wildcards matches; none: all
  std::vector<std::string> dropped;
  std::vector<std::pair<std::string, std::string>> renamed;  // from, to
  std::vector<ArrayCast> casts;
};

// In all iterations of all parts. Error (usage) if a name or wildcard matches nothing, if a new name is taken, or if
// nothing is left.
void change_data(std::span<DataPart> parts, const DataChanges& changes);

}  // namespace assay::formats
