#include "ops/kernels/elements/element_inference.h"
#include "ops/kernels/elements/list_argument.h"
#include "ops/kernels/movement/movement.h"
#include "ops/kernels/movement/places.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr ListArgument kShape{.name = "shape", .input = 1};

void infer_expanded_elements(Infer& node, const Dims& dims) {
  const std::optional<std::vector<int64_t>> to = numbers(dims);
  const std::optional<Elements> elements = node.elements(0);
  if (!to || !elements || !numbers(node.dims(0))) return;
  const std::optional<uint64_t> count = tensor::element_count(*to);
  if (!count || *count > 4096) return;
  const std::vector<int64_t> strides = broadcast_strides(elements->shape, *to);
  infer_moved_elements(node, *to,
                       [&](uint64_t place) { return static_cast<uint64_t>(strided_place(place, *to, strides)); });
}

void infer_expand(Infer& node) {
  const std::optional<Dims> shape = known_list(node, kShape);
  if (!shape) return;
  for (const Dim& dim : *shape) {
    if (dim.is_number() && *dim.number() < 0) fail(ErrorCode::shape, "the shape {} has a negative dim", text(*shape));
  }
  if (!node.is_ranked(0)) return;
  Dims dims = broadcast(node.dims(0), *shape);
  infer_expanded_elements(node, dims);
  node.set_dims(0, std::move(dims));
}

void eval_expand(Eval& node) {
  const Shape to = node.out_shape(0);
  node.set_tensor(0, copy_strided(node.tensor_in(0), to, 0, broadcast_strides(node.shape(0), to)));
}

}  // namespace

OperatorRows operator_shape_expand() {
  static constexpr Operator kRows[] = {
      {.name = "Expand",
       .since = 8,
       .traits = {Nature::movement, {.sizes = {1}}},
       .infer = infer_expand,
       .eval = eval_expand},
  };
  return kRows;
}

}  // namespace assay::ops
