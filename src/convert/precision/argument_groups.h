#pragma once

#include <vector>

#include "ir/model.h"
#include "schema/schema.h"

namespace assay::convert {

// Arguments of one node that its schema wants to be of one type, by their places.
struct ArgumentGroup {
  const schema::TypeSet* types = nullptr;
  std::vector<uint32_t> operands;
  std::vector<uint32_t> results;
};

// The groups of the arguments that are there, in the order of the operands, then of the results.
std::vector<ArgumentGroup> argument_groups(const ir::Node& node, const schema::Schema& schema);

}  // namespace assay::convert
