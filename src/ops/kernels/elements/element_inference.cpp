#include "ops/kernels/elements/element_inference.h"

#include "ops/kernels/elements/known_elements.h"
#include "ops/kernels/movement/places.h"

namespace assay::ops {
void infer_elements_of_two(Infer& node, FunctionRef<Dim(const Dim& a, const Dim& b)> fn) {
  infer_broadcast(node);
  const std::optional<Elements> a = node.elements(0);
  const std::optional<Elements> b = node.elements(1);
  if (!a || !b) return;
  const std::optional<std::vector<int64_t>> shape = numbers(broadcast(dims_of(a->shape), dims_of(b->shape)));
  const std::optional<uint64_t> count = shape ? knowable_count(*shape) : std::nullopt;
  if (!count) return;
  Elements result{*shape, {}};
  const std::vector<int64_t> strides_a = broadcast_strides(a->shape, *shape);
  const std::vector<int64_t> strides_b = broadcast_strides(b->shape, *shape);
  for (uint64_t i = 0; i < *count; ++i) {
    const auto place_a = static_cast<size_t>(strided_place(i, *shape, strides_a));
    const auto place_b = static_cast<size_t>(strided_place(i, *shape, strides_b));
    result.items.push_back(fn(a->items[place_a], b->items[place_b]));
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
  const std::optional<uint64_t> count = knowable_count(shape);
  if (!elements || !count) return;
  Elements result{std::move(shape), {}};
  for (uint64_t i = 0; i < *count; ++i) result.items.push_back(elements->items[source_of(i)]);
  node.set_elements(0, std::move(result));
}

}  // namespace assay::ops
