#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "engine/kernel.h"
#include "ir/rewriter.h"

namespace assay::engine {

// How a model may be computed. Layers are named by nodes of the source model or their results, with wildcards.
struct Precision {
  bool bfloat16 = false;                     // what may be is stored in it; sums are float32
  std::vector<std::string> float32_layers;   // that stay float32
  std::vector<std::string> bfloat16_layers;  // that are stored in it, permitted or not
  bool is_obeyed = false;                    // Error where one of them cannot be
  // Whether the device has instructions for bfloat16. Otherwise operators of it compute in float32, and of what may be
  // bfloat16 only the weights of products of few rows are.
  bool multiplies_bfloat16 = true;
  bool rounds_halves = false;  // results of 16-bit operators that compute in float32 are rounded each
};

// Sets what the device and strictness say.
void set_machine(Precision& precision, const Device& device, bool is_strict);

// Error (usage) for layers that the model does not have; a wildcard that fits nothing is a finding.
void check_precision(const ir::Model& source, const Precision& precision, Diagnostics& findings);

// Stores in bfloat16 what is asked for. Made with the source model, before passes give its nodes other names.
class Bfloat16Layers {
 public:
  Bfloat16Layers(const ir::Model& source, const Precision& precision);
  // Error (unsupported) for a layer that was to be bfloat16 and cannot be, if that is obeyed.
  void store(ir::Model& model, ir::Rewriter& rewriter) const;

 private:
  bool is_kept(const ir::Model& model, ir::NodeId node) const;
  void convert(ir::Model& model, ir::Rewriter& rewriter) const;

  const Precision& precision_;
  std::set<ir::NodeId> float32_;
  std::set<ir::NodeId> bfloat16_;
};

}  // namespace assay::engine
