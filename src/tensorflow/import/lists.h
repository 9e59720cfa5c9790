#pragma once

#include "tensorflow/import/site.h"

namespace assay::tensorflow {

// The tensor of a list, made of zeros if nothing was written. Error (unsupported) if that needs sizes that are not
// known.
ir::ValueId list_tensor(Builder& builder, const Item& item);
// Zeros of the shape [count, sizes of an element...]; `sizes` is a tensor of one dimension.
ir::ValueId list_zeros(Builder& builder, tensor::DType dtype, ir::ValueId count, ir::ValueId sizes);
// The number of tensors in a list (int64).
ir::ValueId list_count(Builder& builder, const Item& item);
// A tensor that is a list from now on.
Item as_list(Builder& builder, ir::ValueId tensor);
// Sizes behind the first, of a tensor (int64).
ir::ValueId sizes_behind_first(Builder& builder, ir::ValueId tensor);
// The list with all tensors that a loop wrote to it, one in each round: at the places `index`; an invalid one stands
// for places in order from 0 on.
Item with_written(Builder& builder, const Item& list, ir::ValueId written, ir::ValueId index);
// The list with others at its end.
Item with_added(Builder& builder, const Item& list, ir::ValueId added);

}  // namespace assay::tensorflow
