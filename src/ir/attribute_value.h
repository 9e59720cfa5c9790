#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/model.h"

namespace assay::ir {

// The value of an attribute apart from any model.
using AttributeValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>, std::vector<std::string>>;

// Nothing for tensors, graphs, types and references.
std::optional<AttributeValue> attribute_value(const Model& model, const Attribute& attribute);

// An attribute of a node of the model, with a name and a value.
Attribute make_attribute(Model& model, std::string_view name, const AttributeValue& value);

}  // namespace assay::ir
