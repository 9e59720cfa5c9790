#pragma once

#include <optional>
#include <vector>

#include "engine/layers/layer.h"

namespace assay::engine {

// Rows of a tensor's elements at the places that indices name. The other side of a movement has these rows one after
// the other.
struct IndexedRows {
  tensor::Shape shape;                 // of the rows
  std::vector<int64_t> data_strides;   // by its dims, in the tensor
  std::vector<int64_t> index_strides;  // likewise, in the indices
  int64_t length = 1;                  // elements of a row
  struct Number {
    int64_t limit, step;  // dim of the tensor, and elements from one of its places to the next
  };
  std::vector<Number> numbers;  // of an index
  int64_t number_step = 0;      // from one of them to the next, in the indices
  // Each element of a row has an index of its own, so far behind the one before, and lies so far behind it without it.
  bool is_by_element = false;
  int64_t index_step = 0, data_step = 1;

  int64_t count() const;
  // True if rows never share elements.
  bool are_apart() const { return is_by_element && data_step == 0; }
};

enum class IndexedOperator : uint8_t { gather, gather_elements, gather_places, scatter_places, scatter_elements };

// The rows that a layer takes, or writes behind a copy of all: of places along an axis, of tuples, or with an index for
// each element. Nullopt: it is another operator, or something lies otherwise.
std::optional<IndexedRows> find_indexed_rows(const Layer& layer, IndexedOperator op);

// The indices by which a node of the model takes parts of its operand along the first dim, one list of them; invalid:
// it takes something else.
ir::ValueId find_slab_places(const ir::Model& model, const ops::Inference& inference, ir::NodeId node);

}  // namespace assay::engine
