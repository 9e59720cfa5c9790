#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ops/eval.h"
#include "ops/infer.h"

namespace assay::ops {

// A list of integers that was an attribute and became an input in version `since` of the operator set.
struct ListArgument {
  std::string_view name;
  uint32_t input = 1;
  int64_t since = 0;
  bool may_be_scalar = false;  // a single number instead of a list of one
};

bool is_given(const Infer& node, const ListArgument& argument);
bool is_given(const Eval& node, const ListArgument& argument);
// The elements of a list as far as they are known; empty if not even their number is, or if it is left out. Error if it
// is not a list.
std::optional<Dims> known_list(const Infer& node, const ListArgument& argument);
std::optional<std::vector<int64_t>> known_numbers(const Infer& node, const ListArgument& argument);
// Empty where it is left out.
std::vector<int64_t> list_of(const Eval& node, const ListArgument& argument);

}  // namespace assay::ops
