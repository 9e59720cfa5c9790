#pragma once

#include <map>
#include <set>
#include <string>

#include "engine/lowering/precision.h"
#include "ir/rewriter.h"
#include "ops/inference.h"
#include "tensor/shape.h"

namespace assay::engine {

inline constexpr std::string_view kDomain = "assay.engine";

// Lowers a model. Every step goes through the rewriter, and after each one the model still runs on the reference. The
// main steps, in order (lower.cpp has all):
//   sort, inline functions, widen 16-bit floats, fold, simplify, merge into weights, lower the precision as asked for,
//   form layers.
// A layer of several operators becomes the call of a function in `kDomain`, whose body is these operators.
// A model with a node that the reference would refuse stays as it is, so that no step reads what nobody has checked. In
// bodies, which may never run, only shapes may be wrong; they are looked at again when they are planned.
void lower(ir::Model& model, ir::Rewriter& rewriter, const Precision& precision = {});

// Nodes of the main graph that break a rule of their operators, by counts, attributes, types or shapes: the reference
// fails there and says why. No kernel computes them.
std::set<ir::NodeId> broken_nodes(const ir::Model& model, const ops::Inference& inference);

// Sets another type of an input.
void fix_type(ir::Model& model, ir::ValueId input, tensor::DType dtype, const tensor::Shape& shape);
// Sets the shapes of inputs, by name; inputs that are not named stay as they are.
void fix_shapes(ir::Model& model, const std::map<std::string, tensor::Shape>& shapes);

}  // namespace assay::engine
