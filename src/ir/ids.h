#pragma once

#include "base/ids.h"

namespace assay::ir {

// Handles are never reused in a model's life.
using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;
using GraphId = Id<struct GraphTag>;
using TensorId = Id<struct TensorTag>;
using TypeId = Id<struct TypeTag>;    // interned: equal types have equal ids
using DimId = Id<struct DimTag>;      // interned likewise
using Symbol = Id<struct SymbolTag>;  // an interned string; the empty string is kEmpty

inline constexpr Symbol kEmpty{0};
inline constexpr DimId kUnknownDim{0};  // nothing is known; two of them need not be equal

}  // namespace assay::ir
