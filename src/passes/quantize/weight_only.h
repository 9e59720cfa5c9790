#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "ir/rewriter.h"
#include "passes/quantize/block_codes.h"

namespace assay::passes {

// How compressed weights stand in the model.
enum class WeightForm : uint8_t {
  dequantize,   // DequantizeLinear before the node
  matmulnbits,  // ONNX Runtime's own MatMulNBits in the place of MatMul
};

// Which weights become small integers, and how. Names are those of nodes or of their results, and may have wildcards.
struct WeightOptions {
  uint32_t bits = 8;        // or 4
  uint64_t block_size = 0;  // numbers with one scale; 0: one scale for each output channel
  bool asymmetric = false;
  WeightForm form = WeightForm::dequantize;
  std::vector<std::string> excluded;
  std::vector<std::string> excluded_ops;
  std::vector<std::string> only_ops;  // empty: Conv, ConvTranspose, Gemm, MatMul
};

// A node with a weight, and what became of it.
struct WeightLayer {
  ir::NodeId node;
  std::string name;
  std::string op;
  bool compressed = false;
  std::string reason;  // why it is not
  std::optional<WeightError> error;
};

struct WeightReport {
  bool changed = false;
  std::vector<WeightLayer> layers;  // in the order of the model
  uint64_t weights = 0;
  uint64_t bytes_before = 0;
  uint64_t bytes_after = 0;  // with scales and zero points
};

// Makes constant float32 weights small integers; the nodes go on computing with floats. A second time nothing is
// changed. Error (usage) for a name that no node has, (unsupported) for an operator set without the DequantizeLinear
// that is needed.
WeightReport compress_weights(ir::Model& model, ir::Rewriter& rewriter, const WeightOptions& options,
                              Diagnostics& findings);
WeightReport compress_weights(ir::Model& model, const WeightOptions& options, Diagnostics& findings);

}  // namespace assay::passes
