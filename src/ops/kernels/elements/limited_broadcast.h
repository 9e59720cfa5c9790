#pragma once

#include "ops/eval.h"
#include "ops/infer.h"

namespace assay::ops {

// Broadcasting as it was before operator-set version 7: with `broadcast` set, the second input has one element or its
// shape is a run of dims of the first input, some perhaps 1, from `axis` on or, without `axis`, at the end.

// Output 0 has the dims of input 0; Error where input 1 does not fit.
void infer_limited_broadcast(Infer& node);
// Calls `eval` with the second input shaped so that multidirectional broadcasting does the same.
void eval_limited_broadcast(Eval& node, void (*eval)(Eval& node));
// Calls `eval` with the second input lying along the dims of the first from `axis` on.
void eval_along_axis(Eval& node, int64_t axis, void (*eval)(Eval& node));

template <void (*Function)(Eval& node)>
void limited(Eval& node) {
  eval_limited_broadcast(node, Function);
}

}  // namespace assay::ops
