#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "passes/pass.h"

namespace assay::passes {

// The elements of a small constant of integers.
std::optional<std::vector<int64_t>> integers_of(PassRun& run, ir::ValueId value);
// The single element of a constant of integers or booleans.
std::optional<int64_t> integer_of(PassRun& run, ir::ValueId value);
// Integers that are an operand from version `since` on, and an attribute before; empty where they are neither.
std::optional<std::vector<int64_t>> integers_of(PassRun& run, const ops::Node& node, uint32_t operand_index,
                                                std::string_view attribute, int64_t since);
// True if every element is this number, and has its sign.
bool is_filled_with(const tensor::Tensor& tensor, double number);

tensor::Tensor integer_tensor(const std::vector<int64_t>& elements);
// An attribute with a list that lives as long as the model.
ir::Attribute integers_attribute(PassRun& run, std::string_view name, const std::vector<int64_t>& items);

}  // namespace assay::passes
