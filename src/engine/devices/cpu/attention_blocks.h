#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/kernel.h"

namespace assay::engine::cpu {

// A stack of matrices of an input or result of a layer, with strides in elements.
struct Matrices {
  int input = -1;  // of the layer; -1: there are none
  std::vector<int64_t> items;
  int64_t row = 0, column = 0;
};

// softmax(q * k * scale + mask) * v for every item. Rows of q, of the mask and of the result must be dense.
struct AttentionGeometry {
  std::vector<int64_t> items;
  int64_t rows = 0, keys = 0, depth = 0, width = 0;
  Matrices q, k, v, mask, out;  // k: rows are keys
  float scale = 1;
  bool divides = false;                // by the scale
  bool is_causal = false;              // row i sees the first i + 1 keys
  bool has_conditions = false;         // the mask is of bytes: 0 hides a key
  bool zeroes_what_sees_none = false;  // rows of which everything is hidden; otherwise they are NaN
};

std::unique_ptr<Kernel> make_attention(AttentionGeometry geometry);

}  // namespace assay::engine::cpu
