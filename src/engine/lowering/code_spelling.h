#pragma once

#include <optional>
#include <vector>

#include "engine/lowering/centered_weights.h"
#include "ir/queries.h"
#include "passes/pass.h"

namespace assay::engine {

// A tensor of 8-bit integers with what they stand for, of which all is constant but perhaps the codes.
struct Codes {
  ir::ValueId value;
  tensor::DType dtype = tensor::DType::undefined;
  std::vector<double> scales;
  std::vector<double> zeros;

  bool have_one_scale() const { return scales.size() == 1 && zeros.size() == 1; }
};

// Nodes of the main graph that call operators of com.microsoft as their schemas say.
std::vector<ir::NodeId> microsoft_nodes(passes::PassRun& run);

// Reads codes of nodes, and writes what they stand for, in patches of a pass.
struct CodeSpelling {
  passes::PassRun& run;

  const ir::Model& model() const { return run.model(); }
  tensor::DType dtype_of(ir::ValueId value);
  std::vector<double> numbers(ir::ValueId value);
  // Zero points, which are 0 where they are left out; nullopt: they are computed.
  std::optional<std::vector<double>> zeros(ir::ValueId value);
  // The codes of the operands from `first` on: codes, scales, zero points. nullopt: something else.
  std::optional<Codes> codes(ir::NodeId node, uint32_t first);
  // The one scale and zero point of a result, operands from `first` on. nullopt: something else.
  std::optional<Codes> quantizer(ir::NodeId node, uint32_t first);
  bool has_scales_by_axis() const;  // DequantizeLinear

  // Codes with one scale.
  static ir::PatchValue dequantize(ir::Patch& patch, const Codes& codes);
  static ir::PatchValue quantize(ir::Patch& patch, ir::PatchValue floats, const Codes& to);
  // Dequantizes centered weights; of scales there is one, or one for each index of the axis.
  ir::PatchValue dequantize(ir::Patch& patch, CenteredWeights centered, std::vector<double> scales, size_t axis);
  // The right operand of a product, of which the axis is that of the result's channels or columns; nullopt: it has
  // several scales and is computed.
  std::optional<ir::PatchValue> dequantize_right(ir::Patch& patch, const Codes& codes, size_t axis);
};

// One zero point, or several.
tensor::Tensor zero_list(const std::vector<int>& zeros);
// A bias of integers in units of the sums of a product, as floats.
tensor::Tensor bias_of(const std::vector<double>& sums, const Codes& left, const Codes& right);

}  // namespace assay::engine
