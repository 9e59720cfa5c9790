#include <array>

#include "base/parallel.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/elements/known_elements.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint64_t kGrain = 16384;

Dim choose(const Dim& condition, const Dim& x, const Dim& y) {
  if (condition.is_number()) return condition.is(0) ? y : x;
  return x.equals(y) ? x : Dim();
}

void infer_where(Infer& node) {
  infer_broadcast(node);
  const std::optional<Dims>& dims = node.output(0).type.dims;
  const std::optional<std::vector<int64_t>> shape = dims ? numbers(*dims) : std::nullopt;
  if (!shape) return;
  const std::optional<std::vector<Dim>> condition = broadcast_elements(node, 0, *shape);
  const std::optional<std::vector<Dim>> x = broadcast_elements(node, 1, *shape);
  const std::optional<std::vector<Dim>> y = broadcast_elements(node, 2, *shape);
  if (!condition || !x || !y) return;
  Elements result{*shape, {}};
  for (size_t i = 0; i < condition->size(); ++i) result.items.push_back(choose((*condition)[i], (*x)[i], (*y)[i]));
  node.set_elements(0, std::move(result));
}

// One of the two inputs that elements are taken from.
struct Branch {
  Branch(const Tensor& tensor, const Shape& shape)
      : from(tensor), reader(tensor, shape), is_whole(tensor.shape() == shape), is_one(tensor.count() == 1) {}

  uint64_t source_of(uint64_t place) const {
    if (is_whole) return place;
    return is_one ? 0 : reader.source_of(place);
  }

  MoveFrom from;
  BroadcastReader reader;
  bool is_whole;
  bool is_one;
};

void eval_where(Eval& node) {
  const Shape shape = node.out_shape(0);
  const BroadcastReader condition(node.tensor_in(0), shape);
  const Branch x(node.tensor_in(1), shape);
  const Branch y(node.tensor_in(2), shape);
  MoveTo result(node.tensor_in(1).dtype(), shape);
  parallel_for(node.out_count(0), kGrain, [&](uint64_t begin, uint64_t end) {
    std::vector<uint64_t> flags(end - begin);
    condition.read(begin, std::span(flags));
    for (uint64_t i = begin; i < end; ++i) {
      const Branch& branch = flags[i - begin] ? x : y;
      result.copy(branch.from, branch.source_of(i), i);
    }
  });
  node.set_tensor(0, result.finish());
}

}  // namespace

OperatorRows operator_math_where() {
  static constexpr Operator kRows[] = {
      {.name = "Where",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::exact}},
       .infer = infer_where,
       .eval = eval_where},
  };
  return kRows;
}

}  // namespace assay::ops
