#pragma once

#include "ir/model.h"

namespace assay::scene {

// Gives each call of a function that is called more often a copy of that function, with an overload of its own, so that
// its nodes can stand in the call. They are named as if the function were inlined. Functions that call themselves, what
// these call, and calls that would add too many nodes, are left as they are.
void give_calls_their_functions(ir::Model& model);

}  // namespace assay::scene
