#include <complex>

#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_non_zero(Infer& node) {
  node.set_dtype(0, DType::int64);
  node.set_dims(0, {node.is_ranked(0) ? Dim(node.rank(0)) : Dim(), Dim()});
}

template <typename C>
std::vector<uint64_t> places_of(const Tensor& tensor) {
  const std::vector<C> elements = load_elements<C>(tensor);
  std::vector<uint64_t> places;
  for (uint64_t i = 0; i < elements.size(); ++i) {
    if (elements[i] != C{}) places.push_back(i);
  }
  return places;
}

std::vector<uint64_t> non_zero_places(const Tensor& tensor) {
  switch (tensor::kind(tensor.dtype())) {
    case tensor::DTypeKind::string:
      return places_of<std::string>(tensor);
    case tensor::DTypeKind::complex:
      return places_of<std::complex<double>>(tensor);
    default:
      return with_carrier(tensor.dtype(), [&](auto zero) { return places_of<decltype(zero)>(tensor); });
  }
}

// A scalar has no axes, so its places are columns of no rows.
void eval_non_zero(Eval& node) {
  const std::vector<uint64_t> places = non_zero_places(node.tensor_in(0));
  const Shape& shape = node.shape(0);
  std::vector<int64_t> indices(shape.size() * places.size());
  for (uint64_t i = 0; i < places.size(); ++i) {
    uint64_t place = places[i];
    for (size_t a = shape.size(); a-- > 0;) {
      const auto dim = static_cast<uint64_t>(shape[a]);
      indices[a * places.size() + i] = static_cast<int64_t>(place % dim);
      place /= dim;
    }
  }
  node.store(0, {static_cast<int64_t>(shape.size()), static_cast<int64_t>(places.size())}, std::move(indices));
}

}  // namespace

OperatorRows operator_movement_non_zero() {
  static constexpr Operator kRows[] = {
      {.name = "NonZero",
       .since = 9,
       .traits = {Nature::selection, {.counts_elements = true}},
       .infer = infer_non_zero,
       .eval = eval_non_zero},
  };
  return kRows;
}

}  // namespace assay::ops
