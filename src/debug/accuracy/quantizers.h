#pragma once

#include <map>
#include <vector>

#include "ir/model.h"

namespace assay::debug {

// The place of codes in a second model that stand for a value of the first.
struct Quantizer {
  ir::ValueId codes;
  ir::ValueId scale;
  ir::ValueId zero_point = {};
  int64_t axis = 1;
  int64_t block = 0;
  bool is_turned = false;            // codes are those of the transposed matrix
  std::vector<double> factors = {};  // Quantized::factors
};

// By layer of the first model, and by its operands and results.
using Quantizers = std::map<ir::NodeId, std::map<ir::ValueId, Quantizer>>;

// Pairs the value behind a quantizer that clips in the place of a Relu or Clip with the result of that.
void pair_clipped(const ir::Model& model, const ir::Model& other, std::map<ir::ValueId, ir::ValueId>& values);

// Quantizers that `other` has and the model has not: DequantizeLinear before an operand or behind a result, and the
// operators that compute with codes. `values`: of the other model by those of the model that they correspond to;
// `nodes`: its nodes by those of the model.
Quantizers find_quantizers(const ir::Model& model, const ir::Model& other,
                           const std::map<ir::ValueId, ir::ValueId>& values, const std::vector<ir::NodeId>& nodes);

}  // namespace assay::debug
