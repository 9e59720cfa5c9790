#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "ir/model.h"

namespace assay::surgery {

// The documentation of a stripped tensor; the second is a weight that was 2:4 sparse.
inline constexpr std::string_view kStrippedMark = "TRT_WEIGHTLESS/";
inline constexpr std::string_view kSparseMark = "TRT_WEIGHTLESS/SPARSE_2_4";

struct StrippedWeight {
  std::string name;
  bool is_sparse;
};

// Takes the elements of the model's weights away; their types stay, and a mark that says whether they were 2:4 sparse.
// What is stripped already, and what `excluded` names, is left as it is; names that no initializer has are findings.
std::vector<StrippedWeight> strip(ir::Model& model, std::span<const std::string> excluded, Diagnostics& findings);

}  // namespace assay::surgery
