#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/model.h"

namespace assay::ir {

// The value of an attribute apart from any model.
using AttributeValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>, std::vector<std::string>>;

// Nothing for tensors, graphs, types and references.
std::optional<AttributeValue> attribute_value(const Model& model, const Attribute& attribute);

}  // namespace assay::ir
