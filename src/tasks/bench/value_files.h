#pragma once

#include <string>
#include <vector>

#include "tasks/observer.h"
#include "tensor/named.h"

namespace assay::tasks {

// Writes the elements of each tensor, little-endian and nothing else, into the current folder, as
// `x.input.1.3.float32.raw`; what is unsafe in a name becomes `_`.
void save_bindings(const tensor::NamedData& inputs, const tensor::NamedData& outputs, Observer& observer);

// A way to write values: `summary` (one tensor_summary.json), `numpy`, `string`, `raw`.
std::vector<std::string_view> value_formats();

// Writes values into the current folder, each in these formats, as `0003_name.npy`. Types that NumPy does not have are
// float32 there, and say so in the name. `model` and `command` stand in the summary. Error (usage): no such format.
void save_values(const tensor::NamedData& values, const std::vector<std::string>& formats, const std::string& model,
                 const std::string& command, Observer& observer);

}  // namespace assay::tasks
