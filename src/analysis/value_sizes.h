#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ir/model.h"
#include "tensor/named.h"

namespace assay::analysis {

// Bytes that the values of the main graph take when these inputs are given, by name, where inference can tell.
std::map<std::string, uint64_t> value_sizes(const ir::Model& model, const tensor::NamedData& feeds);

}  // namespace assay::analysis
