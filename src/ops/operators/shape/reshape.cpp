#include "ops/kernels/elements/element_inference.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// Before version 5 the shape is an attribute.
std::optional<Dims> wanted_dims(const Infer& node) {
  if (node.version() < 5) return dims_of(node.integers("shape"));
  const std::optional<Elements> elements = node.elements(1);
  if (!elements) return std::nullopt;
  if (elements->shape.size() != 1)
    fail(ErrorCode::shape, "the shape must be a list, it has rank {}", elements->shape.size());
  return elements->items;
}

// 0 copies a dim of the input, unless allowzero.
void copy_zeros(const Infer& node, Dims& dims) {
  if (node.flag("allowzero")) return;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].is(0)) continue;
    if (!node.is_ranked(0)) {
      dims[i] = Dim();
    } else if (i < node.dims(0).size()) {
      dims[i] = node.dims(0)[i];
    } else {
      fail(ErrorCode::shape, "dim {} is to be copied from the input, which has shape {}", i, text(node.dims(0)));
    }
  }
}

// -1 is what is left over; Error where the elements do not fit.
void fill_gap(const Infer& node, Dims& dims, const Dims& wanted) {
  std::optional<size_t> gap;
  Dims others;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].is(-1)) {
      others.push_back(dims[i]);
      continue;
    }
    if (gap) fail(ErrorCode::shape, "the shape {} has -1 twice", text(wanted));
    gap = i;
  }
  const bool fits_unknown = !node.is_ranked(0);
  const Dim total = fits_unknown ? Dim() : product(node.dims(0));
  if (gap) {
    if (product(others).is(0))
      fail(ErrorCode::shape, "-1 cannot be inferred next to a dim of 0 in the shape {}", text(wanted));
    dims[*gap] = fits_unknown ? Dim() : quotient(node.dims(0), others);
  }
  const Dim result = gap ? product(others) : product(dims);
  if (!total.is_number() || !result.is_number()) return;
  const bool fits = gap ? *total.number() % *result.number() == 0 : total.equals(result);
  if (!fits) {
    fail(ErrorCode::shape, "shape {} does not fit the input's {} elements (shape {})", text(wanted), total.text(),
         text(node.dims(0)));
  }
}

void infer_reshape(Infer& node) {
  const std::optional<Dims> wanted = wanted_dims(node);
  if (!wanted) return;
  Dims dims = *wanted;
  for (const Dim& dim : dims) {
    if (dim.is_number() && *dim.number() < -1) fail(ErrorCode::shape, "the shape {} has a negative dim", text(dims));
  }
  copy_zeros(node, dims);
  fill_gap(node, dims, *wanted);
  if (const std::optional<std::vector<int64_t>> shape = numbers(dims)) {
    infer_moved_elements(node, *shape, [](uint64_t place) { return place; });
  }
  node.set_dims(0, std::move(dims));
}

void eval_reshape(Eval& node) { node.set_tensor(0, reshaped(node.tensor_in(0), node.out_shape(0))); }

}  // namespace

OperatorRows operator_shape_reshape() {
  static constexpr Operator kRows[] = {
      {.name = "Reshape",
       .traits = {Nature::movement, {.moves = Moves::in_order, .sizes = {1}}},
       .infer = infer_reshape,
       .eval = eval_reshape},
  };
  return kRows;
}

}  // namespace assay::ops
