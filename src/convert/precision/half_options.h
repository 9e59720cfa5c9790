#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "convert/layers.h"
#include "tensor/dtype.h"

namespace assay::convert {

// The treatment of weights that 16 bits cannot hold.
enum class HalfOverflow : uint8_t {
  keep,   // the nodes that use them stay in float32
  clamp,  // the largest number takes their place, or the smallest that of what would become 0
};

// Options for converting a model to 16-bit floats.
struct HalfOptions {
  tensor::DType half = tensor::DType::float16;  // or bfloat16
  bool keeps_interface = true;                  // inputs and outputs of the model stay float32
  HalfOverflow overflow = HalfOverflow::keep;
  bool keeps_misfits = true;  // nodes whose values may not fit, as far as they are known without a run, stay float32
  LayerChoice choice = {};
  std::vector<std::string> forced = {};        // nodes that are converted though they would better not be
  std::set<ir::NodeId> forced_nodes = {};      // likewise
  std::map<ir::NodeId, double> measured = {};  // the greatest magnitude of a node's operands and results

  // The largest bfloat16 is off by less than half a percent from any float32 beyond it, and a mask of such numbers must
  // not become infinite.
  bool clamps() const { return overflow == HalfOverflow::clamp || half == tensor::DType::bfloat16; }
};

}  // namespace assay::convert
