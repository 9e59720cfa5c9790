#pragma once

#include <variant>

#include "engine/layers/chain.h"
#include "engine/layers/compressed_product.h"
#include "engine/layers/convolution.h"
#include "engine/layers/fused_product.h"
#include "engine/layers/group_query.h"
#include "engine/layers/normalization.h"
#include "engine/layers/pool.h"
#include "engine/layers/product.h"
#include "engine/layers/quantized_attention.h"
#include "engine/layers/recurrence.h"
#include "engine/layers/reduction.h"
#include "engine/layers/resize.h"
#include "engine/layers/separable.h"
#include "engine/layers/spelled_attention.h"
#include "engine/layers/spelled_rotary.h"

namespace assay::engine {

// A layer as far as it does not depend on how operands and results lie, which changes after it is found; found once for
// all implementations. monostate:
// implementations read the operator itself.
struct Form {
  std::variant<std::monostate, SeparableForm, FusedProduct, ConvolutionForm, SpelledAttention, QuantizedAttention,
               GroupQuery, ProductForm, CompressedForm, PoolForm, ResizeForm, NormForm, SoftmaxForm, ChannelNormForm,
               SpelledRotary, Recurrence, Chain, Reduction, PlacesForm>
      kind;
};

// Finds the form when it is asked for first.
const Form& form_of(const Layer& layer);

// Null: the layer has another form.
template <typename T>
const T* form_as(const Layer& layer) {
  return std::get_if<T>(&form_of(layer).kind);
}

}  // namespace assay::engine
