#pragma once

#include <string_view>
#include <vector>

#include "ir/model.h"

namespace assay::debug {

struct AttributeWord {
  std::string_view name;
  std::string_view value;
};

// Other words for the attributes of a node that are words; each item is to be set at once. First those that change one
// attribute, then pairs.
std::vector<std::vector<AttributeWord>> other_words(const ir::Model& model, ir::NodeId node);

}  // namespace assay::debug
