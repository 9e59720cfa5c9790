#pragma once

#include <variant>

#include "engine/layers/chain.h"
#include "engine/layers/convolution.h"
#include "engine/layers/pool.h"
#include "engine/layers/product.h"
#include "engine/layers/resize.h"

namespace assay::engine {

// A layer as far as it does not depend on how operands and results lie; found once for all implementations. monostate:
// implementations read the operator itself.
struct Form {
  std::variant<std::monostate, ConvolutionForm, ProductForm, PoolForm, ResizeForm, Chain> kind;
};

// Finds the form when it is asked for first.
const Form& form_of(const Layer& layer);

// Null: the layer has another form.
template <typename T>
const T* form_as(const Layer& layer) {
  return std::get_if<T>(&form_of(layer).kind);
}

}  // namespace assay::engine
