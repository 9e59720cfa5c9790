#pragma once

#include <cstdint>
#include <optional>

namespace assay::passes {

struct FoldOptions {
  // Results of more bytes stay computed at run time. Unset: large results are not folded.
  std::optional<uint64_t> size_threshold_bytes;
  // Bytes of the model's constants before anything was folded, beyond which none of these can grow. Unset: of those
  // that no pass has changed.
  std::optional<uint64_t> constant_bytes;
  // Also fold what follows from shapes alone, whatever data a model is given.
  bool folds_shapes = true;
  // Also quantise constants: their codes are kept, and what reads them still says how they are decoded.
  bool quantises = false;
};

}  // namespace assay::passes
