#pragma once

#include <optional>
#include <vector>

#include "engine/layers/layer.h"

namespace assay::engine {

// A stack of matrices of an input or result of a layer, with strides in elements.
struct Matrices {
  int input = -1;          // of the layer; -1: there are none
  bool is_result = false;  // `input` is the number of a result
  std::vector<int64_t> items;
  int64_t row = 0, column = 0;

  bool exist() const { return input >= 0; }
};

// The matrices of an input whose first dims are those of the items, or 1, or missing.
Matrices matrices_of(int input, const TensorDesc& desc, const tensor::Shape& items);

// The offset of an item's matrix from the first one.
int64_t element_of(const Matrices& matrices, const std::vector<int64_t>& items, int64_t item);

// A result as if its dims were in the order in which they were before a Transpose in this one; empty: none.
TensorDesc turned_back(const TensorDesc& out, const std::vector<int64_t>& order);

// Keys or values of the past, which come before those that a layer is given, and all of them in a result, for the next
// run. Either may be missing.
struct AttentionCache {
  Matrices past;
  int64_t past_rows = 0;
  tensor::DType past_type = tensor::DType::float32;
  Matrices kept;
  tensor::DType kept_type = tensor::DType::float32;
};

// softmax(q * k * scale + mask) * v for every item.
struct AttentionGeometry {
  tensor::DType dtype = tensor::DType::float32;
  std::vector<int64_t> items;
  int64_t rows = 0, keys = 0, depth = 0, width = 0;
  Matrices q, k, v, mask, out;  // k: rows are keys
  AttentionCache k_cache, v_cache;
  float scale = 1;
  bool divides = false;    // by the scale
  bool is_causal = false;  // row i sees the first past + i + 1 keys
  int64_t past = 0;
  Matrices last_key;            // an int32 of each item: keys behind this one are not seen
  bool ends_with_last = false;  // the last row is at that key, whatever `past` is
  Matrices conditions;          // bytes, with dense rows: those that are 0, or are not where `hidden_where`, hide a key
  bool hidden_where = false;
  float hidden = 0;                    // is added to a hidden score, before the mask
  bool replaces = false;               // put in the place of the score instead of added
  bool zeroes_what_sees_none = false;  // rows of which everything is hidden; otherwise they are NaN
  bool zeroes_no_number = false;       // rows of which a score is NaN or infinite, or everything is hidden
  bool may_round_weights = false;      // to the type, where it is shorter than float32
};

// The attention of a layer as its operands lie: written out, Attention, or com.microsoft's MultiHeadAttention. Nullopt:
// another layer, or one with windows, soft caps, or several types in an operator.
std::optional<AttentionGeometry> attention_geometry(const Layer& layer);

}  // namespace assay::engine
