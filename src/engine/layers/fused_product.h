#pragma once

#include <optional>

#include "engine/layers/layer_part.h"
#include "engine/layers/normalization.h"

namespace assay::engine {

// A product by constant columns of what a normalisation gives, which nothing else reads; or one whose columns have two
// halves, of which what follows takes an element each; or both.
struct FusedProduct {
  size_t first = 0;  // node of the product: those before it are the normalisation
  size_t split = 0;  // the node that makes the halves; 0: there is none
};

// Nullopt: the layer is another one.
std::optional<FusedProduct> find_fused_product(const Layer& layer);

struct FusedParts {
  std::optional<LayerPart> norm;
  LayerPart product;  // with what follows it, unless there are halves
  std::optional<LayerPart> gates;
  int first_half = 0, second_half = 0;  // inputs of the gates, as views of the product's result
};
FusedParts parts_of(const Layer& layer, const FusedProduct& form);

// True for products of rows by a matrix, also by one of codes.
bool is_row_product(const ir::Model& model, ir::NodeId node);
// The node that divides the columns of a product, and of nothing else, into two halves; invalid: no node does.
ir::NodeId halving_node(const ir::Model& model, const ops::Inference& inference, ir::NodeId product);
// True if a node is a normalisation of the last dim, as an operator.
bool is_norm_of_rows(const ir::Model& model, const ops::Inference& inference, ir::NodeId node);

}  // namespace assay::engine
