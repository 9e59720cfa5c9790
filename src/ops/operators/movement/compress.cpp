#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The number of kept elements, where the condition is known.
Dim kept_count(const Infer& node) {
  const tensor::Tensor* condition = node.constant(1);
  if (!condition) return {};
  int64_t count = 0;
  for (const uint64_t keeps : load_elements<uint64_t>(*condition)) count += keeps != 0;
  return count;
}

void infer_compress(Infer& node) {
  node.require_rank(1, 1);
  const bool has_axis = node.has_attribute("axis");
  if (!has_axis) node.set_dims(0, {kept_count(node)});
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  if (dims.empty()) fail(ErrorCode::shape, "the input must have a rank of 1 or more");
  Dim length = product(dims);
  if (has_axis) {
    const auto axis = static_cast<size_t>(normalize_axis(node.integer("axis"), node.rank(0)));
    length = std::exchange(dims[axis], kept_count(node));
    node.set_dims(0, std::move(dims));
  }
  const std::optional<int64_t> given = node.is_ranked(1) ? node.dims(1)[0].number() : std::nullopt;
  if (given && length.is_number() && *given > *length.number()) {
    fail(ErrorCode::shape, "the condition has {} elements, there are {} to choose from", *given, length.text());
  }
}

void eval_compress(Eval& node) {
  const std::vector<uint64_t> condition = node.load<uint64_t>(1);
  AxisView view{1, node.count(0), 1};
  if (node.has_attribute("axis")) view = view_axis(node.shape(0), normalize_axis(node.integer("axis"), node.rank(0)));
  const MoveFrom source(node.tensor_in(0));
  MoveTo target(node.tensor_in(0).dtype(), node.out_shape(0));
  uint64_t at = 0;
  for (uint64_t o = 0; o < view.outer && view.inner != 0; ++o) {
    for (uint64_t k = 0; k < condition.size(); ++k) {
      if (condition[k] == 0) continue;
      target.copy(source, view.place(o, k, 0), at, view.inner);
      at += view.inner;
    }
  }
  node.set_tensor(0, target.finish());
}

}  // namespace

OperatorRows operator_movement_compress() {
  static constexpr Operator kRows[] = {
      {.name = "Compress",
       .since = 9,
       .traits = {Nature::movement, {.counts_elements = true}},
       .infer = infer_compress,
       .eval = eval_compress},
  };
  return kRows;
}

}  // namespace assay::ops
