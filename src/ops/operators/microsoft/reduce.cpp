#include "ops/kernels/elements/reduction.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// Without axes all are reduced.
std::vector<int64_t> axes_of(const Node& node, int64_t rank) {
  std::vector<int64_t> axes = normalize_axes(node.integers("axes"), rank);
  std::ranges::sort(axes);
  for (int64_t a = 0; a < rank && node.integers("axes").empty(); ++a) axes.push_back(a);
  return axes;
}

void infer_sum(Infer& node) {
  const DType dtype = node.dtype(0);
  if (dtype != DType::undefined) node.set_dtype(0, dtype == DType::uint8 ? DType::uint32 : DType::int32);
  if (!node.is_ranked(0)) return;
  node.set_dims(0, without_axes(node.dims(0), axes_of(node, node.rank(0)), node.flag("keepdims")));
}

void eval_sum(Eval& node) {
  const Lines lines(node.shape(0), axes_of(node, node.rank(0)));
  node.store(0, reduce_lines<int64_t>(lines, node.load<int64_t>(0), [](std::span<const int64_t> line) {
               int64_t sum = 0;
               for (const int64_t x : line) sum += x;
               return sum;
             }));
}

}  // namespace

OperatorRows operator_microsoft_reduce() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "ReduceSumInteger",
       .traits = {Nature::reduction, {.codes = {0}}},
       .infer = infer_sum,
       .eval = eval_sum},
  };
  return kRows;
}

}  // namespace assay::ops
