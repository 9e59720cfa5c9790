#pragma once

#include "engine/devices/cpu/panels/panel_kernels.h"
#include "engine/layers/compressed_product.h"
#include "engine/weights/packed_weights.h"

namespace assay::engine::cpu {

// The constant matrix of a product as panels of small integers.
class CodePanels {
 public:
  CodePanels(const Layer& layer, const CompressedProduct& product);
  const CodePanel& any() const { return panel_; }  // common facts of all panels
  uint64_t panel_bytes() const { return panel_bytes_; }
  CodePanel panel(int64_t index) const;

 private:
  CodePanel panel_;
  uint64_t panel_bytes_ = 0;
  Buffer bytes_;
};

}  // namespace assay::engine::cpu
