#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/ids.h"
#include "tensor/dtype.h"

namespace assay::passes {

// What is done with weights that 16 bits cannot hold.
enum class HalfOverflow : uint8_t {
  keep,   // the nodes that use them stay in float32
  clamp,  // the largest number takes their place
};

// How a model is converted to 16-bit floats. Names are those of nodes or of their results, and may have wildcards.
struct HalfOptions {
  tensor::DType half = tensor::DType::float16;  // or bfloat16
  bool keeps_interface = true;                  // inputs and outputs of the model stay float32
  HalfOverflow overflow = HalfOverflow::keep;
  std::vector<std::string> excluded;           // nodes that stay in float32
  std::vector<std::string> forced;             // nodes that are converted though they would better not be
  std::vector<std::string> excluded_ops;       // operators, in any case
  std::vector<std::string> only_ops;           // no others; empty: all
  std::map<ir::NodeId, std::string> measured;  // nodes whose values do not fit, and why
};

}  // namespace assay::passes
