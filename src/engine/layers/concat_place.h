#pragma once

#include "engine/layers/layer.h"

namespace assay::engine {

// A Concat of which one value is a part, perhaps in another shape.
struct ConcatPlace {
  ir::NodeId concat;
  TensorDesc whole;    // the Concat's result
  TensorDesc part;     // the value in it
  int64_t offset = 0;  // elements
};

// The place of an operand in the result of a Concat; the part has the operand's dims.
ConcatPlace operand_place(const Layer& concat, size_t operand, Layout layout);

// The place where a value that lies like this is one piece of a Concat's result; nullopt: there is none.
std::optional<ConcatPlace> find_concat_place(const ir::Model& model, const ops::Inference& inference, ir::ValueId value,
                                             Layout layout);

}  // namespace assay::engine
