#pragma once

#include <cstdint>
#include <optional>

#include "passes/precision/half_options.h"
#include "passes/quantize/qdq_options.h"
#include "passes/quantize/quantizer.h"
#include "passes/quantize/weight_options.h"

namespace assay::passes {

struct FoldOptions {
  // Results of more bytes stay computed at run time. None: results stay that would make the file much larger.
  std::optional<uint64_t> size_threshold_bytes;
  // Also fold what follows from shapes alone, whatever data a model is given.
  bool folds_shapes = true;
};

struct UnrollOptions {
  uint64_t most_iterations = 32;  // of one loop
  uint64_t most_nodes = 10'000;   // that all loops may become
};

struct OutlineOptions {
  uint64_t least_nodes = 4;  // of a repeated part
  uint64_t least_count = 2;  // of its occurrences
};

// What the passes of one run are told.
struct Options {
  FoldOptions fold;
  UnrollOptions unroll;
  OutlineOptions outline;
  // Of change-opset: the version of ai.onnx to write the model in; none: the newest.
  std::optional<int64_t> opset;
  // Of to-float16 and to-bfloat16; which of the two the pass says.
  HalfOptions half;
  // Of insert-qdq, which leaves nodes float that work on values without a range.
  QdqOptions qdq;
  ValueRanges ranges;
  // Of compress-weights.
  WeightOptions weights;
};

}  // namespace assay::passes
