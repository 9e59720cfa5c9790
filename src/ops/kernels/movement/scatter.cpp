#include "ops/kernels/movement/scatter.h"

#include <cmath>
#include <complex>

#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/movement/movement.h"

namespace assay::ops {
namespace {

template <typename C>
constexpr bool kIsComplex = std::is_same_v<C, std::complex<double>>;

// NaN wins over every number.
template <typename C>
C extreme(C a, C b, bool takes_larger) {
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
  }
  return (takes_larger ? b > a : b < a) ? b : a;
}

template <typename C>
C combine(C a, C b, Reduction reduction) {
  if constexpr (kIsComplex<C>) {
    if (reduction == Reduction::add) return a + b;
    if (reduction == Reduction::multiply) return a * b;
    fail(ErrorCode::unsupported, "complex numbers have no order");
  } else {
    switch (reduction) {
      case Reduction::add:
        return wrapping_add(a, b);
      case Reduction::multiply:
        return wrapping_multiply(a, b);
      default:
        return extreme(a, b, reduction == Reduction::largest);
    }
  }
}

template <typename C>
void scatter_combined(Eval& node, std::span<const uint64_t> targets, uint64_t run, Reduction reduction) {
  std::vector<C> data = node.load<C>(0);
  const std::vector<C> updates = node.load<C>(2);
  for (uint64_t i = 0; i < targets.size(); ++i) {
    for (uint64_t k = 0; k < run; ++k) {
      C& element = data[targets[i] + k];
      element = combine(element, updates[i * run + k], reduction);
    }
  }
  if constexpr (std::is_same_v<C, uint64_t>) {
    if (node.dtype(0) == DType::boolean) {
      for (C& element : data) element = element != 0;
    }
  }
  node.store(0, std::move(data));
}

}  // namespace

Reduction reduction_of(const Node& node) {
  const std::string_view name = node.string("reduction", "none");
  if (name == "none") return Reduction::none;
  if (name == "add") return Reduction::add;
  if (name == "mul") return Reduction::multiply;
  if (name == "max" && node.version() >= 18) return Reduction::largest;
  if (name == "min" && node.version() >= 18) return Reduction::smallest;
  fail(ErrorCode::shape, "there is no reduction `{}` in version {}", name, node.version());
}

void scatter(Eval& node, std::span<const uint64_t> targets, uint64_t run, Reduction reduction) {
  if (reduction != Reduction::none) {
    if (tensor::kind(node.dtype(0)) == tensor::DTypeKind::complex) {
      return scatter_combined<std::complex<double>>(node, targets, run, reduction);
    }
    return with_carrier(node.dtype(0),
                        [&](auto zero) { scatter_combined<decltype(zero)>(node, targets, run, reduction); });
  }
  const MoveFrom updates(node.tensor_in(2));
  MoveTo result(node.tensor_in(0));
  if (run == 1)
    result.scatter(updates, 0, targets);
  else
    for (uint64_t i = 0; i < targets.size() && run != 0; ++i) result.copy(updates, i * run, targets[i], run);
  node.set_tensor(0, result.finish());
}

}  // namespace assay::ops
