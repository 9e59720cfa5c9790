#include <utility>

#include "ops/kernels/elements/known_dims.h"
#include "ops/kernels/window/window.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The dims of the tensor to which a max pool with the same attributes was applied.
Dims unpooled_dims(const Infer& node) {
  const Dims& in = node.dims(0);
  const size_t axes = in.size() - 2;
  const std::vector<int64_t> kernel = read_kernel(node, axes);
  const WindowRules rules = read_window_rules(node, axes);
  Dims out = {in[0], in[1]};
  for (size_t i = 0; i < axes; ++i) {
    out.push_back((in[i + 2] - Dim(1)) * Dim(rules.strides[i]) + Dim(kernel[i]) - Dim(rules.pads[i]) -
                  Dim(rules.pads[i + axes]));
  }
  require_known(in, out);
  return out;
}

void infer_max_unpool(Infer& node) {
  require_spatial(node);
  node.require_rank(2, 1);
  if (!node.is_ranked(0)) return;
  node.require_rank(1, node.rank(0));
  for (size_t i = 0; node.is_ranked(1) && i < node.dims(0).size(); ++i) {
    unify(node.dims(0)[i], node.dims(1)[i], "dims of the values and of their indices");
  }
  Dims dims = unpooled_dims(node);
  if (node.has(2)) {
    const std::optional<Elements> wanted = node.elements(2);
    const Dims least = std::exchange(dims, wanted ? wanted->items : Dims(dims.size()));
    if (dims.size() != least.size()) {
      fail(ErrorCode::shape, "the output shape {} does not have {} dims", text(dims), least.size());
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      const bool is_known = dims[i].is_number() && least[i].is_number();
      if (is_known && *dims[i].number() < *least[i].number()) {
        fail(ErrorCode::shape, "the output shape {} is smaller than what was pooled, {}", text(dims), text(least));
      }
    }
  }
  node.set_dims(0, std::move(dims));
}

Shape pooled_shape(const Eval& node) {
  const Shape& in = node.shape(0);
  const size_t axes = in.size() - 2;
  const std::vector<int64_t> kernel = read_kernel(node, axes);
  const WindowRules rules = read_window_rules(node, axes);
  Shape shape = in;
  for (size_t i = 0; i < axes; ++i) {
    shape[i + 2] = (in[i + 2] - 1) * rules.strides[i] + kernel[i] - rules.pads[i] - rules.pads[i + axes];
  }
  return shape;
}

// Indices count in the shape that was pooled, which lies at the beginning of each axis of the output.
void eval_max_unpool(Eval& node) {
  const std::vector<double> values = node.load<double>(0);
  const std::vector<int64_t> indices = node.integers_in(1);
  const Shape inner = pooled_shape(node);
  const Shape outer = node.out_shape(0);
  const uint64_t limit = tensor::element_count(inner).value_or(0);
  std::vector<double> out(node.out_count(0));
  for (size_t i = 0; i < values.size(); ++i) {
    auto place = static_cast<uint64_t>(indices[i]);
    if (place >= limit) fail(ErrorCode::shape, "index {} is out of range for {} elements", indices[i], limit);
    uint64_t target = 0;
    uint64_t step = 1;
    for (size_t axis = inner.size(); axis-- > 0;) {
      target += place % static_cast<uint64_t>(inner[axis]) * step;
      place /= static_cast<uint64_t>(inner[axis]);
      step *= static_cast<uint64_t>(outer[axis]);
    }
    out[target] = values[i];
  }
  node.store(0, std::move(out));
}

}  // namespace

OperatorRows operator_pool_max_unpool() {
  static constexpr Operator kRows[] = {
      {.name = "MaxUnpool",
       .since = 9,
       .traits = {Nature::movement, {.range = ValueRange::first_or_zero, .sizes = {2}}},
       .infer = infer_max_unpool,
       .eval = eval_max_unpool},
  };
  return kRows;
}

}  // namespace assay::ops
