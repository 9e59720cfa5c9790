#pragma once

#include <map>
#include <string>

#include "engine/precision.h"
#include "ir/rewriter.h"
#include "tensor/shape.h"

namespace assay::engine {

inline constexpr std::string_view kDomain = "assay.engine";

// The order of lowering; every step goes through the rewriter, and after each one the model still runs on the
// reference:
//   sort, inline functions, widen float16, fold, simplify, merge into weights, lower the precision as asked for, form
//   layers.
// A layer of several operators becomes the call of a function in `kDomain`, whose body is these operators.
void lower(ir::Model& model, ir::Rewriter& rewriter, const Precision& precision = {});

// The same model for inputs of these shapes, by name; inputs that are not named stay as they are.
void fix_shapes(ir::Model& model, const std::map<std::string, tensor::Shape>& shapes);

}  // namespace assay::engine
