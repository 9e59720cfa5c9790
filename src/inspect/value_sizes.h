#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ir/model.h"
#include "tensor/named.h"

namespace assay::inspect {

// The bytes that the values of the main graph take for these inputs, by name, as far as inference can tell. The
// declared types of the model's inputs are replaced by those of the data.
std::map<std::string, uint64_t> value_sizes(ir::Model& model, const tensor::NamedData& feeds);

}  // namespace assay::inspect
