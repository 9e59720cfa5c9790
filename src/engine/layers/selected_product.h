#pragma once

#include <optional>

#include "engine/layers/layer.h"

namespace assay::engine {

// Products of rows by one of several constant matrices each, which indices choose, as a mixture of experts has them:
// item t is [rows, depth] by matrix places[t] of [depth, columns].
struct SelectedProduct {
  ir::ValueId data;    // items of rows
  ir::ValueId places;  // one index for each item
  const tensor::Tensor* matrices = nullptr;
  int64_t count = 0;  // of matrices
  int64_t items = 0, rows = 0, depth = 0, columns = 0;
  int64_t matrix = 0, depth_stride = 0, column_stride = 0;  // strides, in elements
  bool has_shared_rows = false;                             // all items have the same

  int64_t item_rows() const { return items * rows; }
};

// A Gather or GatherND of matrices of float32 along their first dim, and a MatMul of what it gives, on either side;
// nullopt: something else. Whoever else uses what is gathered is not asked for.
std::optional<SelectedProduct> match_selected(const ir::Model& model, const ops::Inference& inference,
                                              ir::NodeId gather, ir::NodeId product, const ConstantOf& constant);
// The layer that is nothing else.
std::optional<SelectedProduct> find_selected(const Layer& layer);

}  // namespace assay::engine
