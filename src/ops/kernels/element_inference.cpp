#include "ops/kernels/element_inference.h"

#include "ops/kernels/broadcast.h"

namespace assay::ops {
namespace {

// The place in a tensor of shape `from` of the element at `place` of the broadcast shape `to`.
uint64_t broadcast_source(uint64_t place, const tensor::Shape& from, const tensor::Shape& to) {
  const std::vector<int64_t> strides = row_major_strides(from);
  uint64_t source = 0;
  for (size_t i = to.size(); i-- > 0;) {
    const auto dim = static_cast<uint64_t>(to[i]);
    const size_t lead = to.size() - from.size();
    if (i >= lead && from[i - lead] != 1) source += place % dim * static_cast<uint64_t>(strides[i - lead]);
    place /= dim;
  }
  return source;
}

}  // namespace

void infer_elements_of_two(Infer& node, FunctionRef<Dim(const Dim& a, const Dim& b)> fn) {
  infer_broadcast(node);
  const std::optional<Elements> a = node.elements(0);
  const std::optional<Elements> b = node.elements(1);
  if (!a || !b) return;
  const std::optional<std::vector<int64_t>> shape = numbers(broadcast(dims_of(a->shape), dims_of(b->shape)));
  Elements result{*shape, {}};
  const uint64_t count = tensor::element_count(*shape).value_or(0);
  for (uint64_t i = 0; i < count; ++i) {
    result.items.push_back(
        fn(a->items[broadcast_source(i, a->shape, *shape)], b->items[broadcast_source(i, b->shape, *shape)]));
  }
  node.set_elements(0, std::move(result));
}

void infer_elements_of_one(Infer& node, FunctionRef<Dim(const Dim& a)> fn) {
  infer_same_as_first(node);
  std::optional<Elements> elements = node.elements(0);
  if (!elements) return;
  for (Dim& item : elements->items) item = fn(item);
  node.set_elements(0, std::move(*elements));
}

void infer_moved_elements(Infer& node, tensor::Shape shape, FunctionRef<uint64_t(uint64_t place)> source_of) {
  const std::optional<Elements> elements = node.elements(0);
  const std::optional<uint64_t> count = tensor::element_count(shape);
  if (!elements || !count) return;
  Elements result{std::move(shape), {}};
  for (uint64_t i = 0; i < *count; ++i) result.items.push_back(elements->items[source_of(i)]);
  node.set_elements(0, std::move(result));
}

}  // namespace assay::ops
