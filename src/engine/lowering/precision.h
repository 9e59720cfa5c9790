#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "convert/precision/half_options.h"
#include "engine/device/device.h"
#include "ir/rewriter.h"

namespace assay::engine {

// Permissions and demands for the precision of a model. Layers are named by nodes of the source model or their results,
// with wildcards.
struct Precision {
  bool bfloat16 = false;                     // values that may be are stored in it; sums are float32
  bool float16 = false;                      // values that may be are declared float16
  bool tf32 = false;                         // a device may multiply float32 in fewer bits
  std::vector<std::string> float32_layers;   // that stay float32
  std::vector<std::string> bfloat16_layers;  // that are stored in it, permitted or not
  std::vector<std::string> float16_layers;   // that are declared float16, permitted or not
  bool is_obeyed = false;                    // Error where one of them cannot be
  // Rules of the device. If it does not compute bfloat16, that permission is used for weights of products of few rows
  // only.
  LoweringRules rules;
  bool rounds_halves = false;  // results of 16-bit operators that compute in float32 are rounded each

  bool declares_float16() const { return float16 || !float16_layers.empty(); }
};

// Sets the rules of the device and what strictness asks for. `excluded`: implementations, among tactics, that may not
// be used.
void set_machine(Precision& precision, const Device& device, bool is_strict, std::span<const std::string> excluded);

// Error (usage) for layers that the model does not have; a wildcard that fits nothing is a finding.
void check_precision(const ir::Model& source, const Precision& precision, Diagnostics& findings);

// Gives layers the 16-bit types that are asked for. Made with the source model, before passes give its nodes other
// names. Error (unsupported) for a layer that was to have one and cannot, if that is obeyed.
class NarrowLayers {
 public:
  NarrowLayers(const ir::Model& source, const Precision& precision);
  // The model must not have been widened yet.
  void declare_float16(ir::Model& model, ir::Rewriter& rewriter) const;
  void store_bfloat16(ir::Model& model, ir::Rewriter& rewriter) const;

 private:
  const std::set<ir::NodeId>& asked(tensor::DType half) const {
    return half == tensor::DType::float16 ? float16_ : bfloat16_;
  }
  bool is_permitted(tensor::DType half) const;
  bool is_wide(const ir::Model& model, ir::NodeId node) const;
  convert::HalfOptions options(const ir::Model& model, tensor::DType half) const;
  void convert(ir::Model& model, ir::Rewriter& rewriter, tensor::DType half) const;

  const Precision& precision_;
  std::set<ir::NodeId> float32_;
  std::set<ir::NodeId> bfloat16_;
  std::set<ir::NodeId> float16_;
};

}  // namespace assay::engine
