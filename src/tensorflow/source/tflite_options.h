#pragma once

#include <string_view>

#include "tensorflow/flat_buffer.h"
#include "tensorflow/source/model.h"

namespace assay::tensorflow {

// Reads the options of an operator into attributes, under the names that TensorFlow has for them; `table` is the place
// of the options, 0: there are none, and all have their defaults.
void read_options(const FlatBuffer& file, uint64_t table, std::string_view op, SourceNode& node);

}  // namespace assay::tensorflow
