#include "ops/kernels/elements/known_elements.h"

#include "ops/kernels/elements/broadcast.h"

namespace assay::ops {

std::optional<uint64_t> knowable_count(const tensor::Shape& shape) {
  const std::optional<uint64_t> count = tensor::element_count(shape);
  return count && *count <= kMaxKnownElements ? count : std::nullopt;
}

std::optional<std::vector<Dim>> broadcast_elements(const Infer& node, uint32_t input, const tensor::Shape& to) {
  const std::optional<Elements> elements = node.elements(input);
  const std::optional<uint64_t> count = knowable_count(to);
  if (!elements || !count || elements->shape.size() > to.size()) return std::nullopt;
  const std::vector<int64_t> strides = row_major_strides(elements->shape);
  const size_t lead = to.size() - elements->shape.size();
  std::vector<Dim> result;
  for (uint64_t place = 0; place < *count; ++place) {
    uint64_t rest = place;
    uint64_t source = 0;
    for (size_t i = to.size(); i-- > lead;) {
      const auto dim = static_cast<uint64_t>(to[i]);
      if (elements->shape[i - lead] != 1) source += rest % dim * static_cast<uint64_t>(strides[i - lead]);
      rest /= dim;
    }
    result.push_back(elements->items[source]);
  }
  return result;
}

std::optional<bool> known_less(const Dim& a, const Dim& b) {
  if ((b - a - Dim(1)).is_non_negative()) return true;
  if ((a - b).is_non_negative()) return false;
  return std::nullopt;
}

std::optional<bool> known_equal(const Dim& a, const Dim& b) {
  if (a.equals(b)) return true;
  if (known_less(a, b).value_or(false) || known_less(b, a).value_or(false)) return false;
  return std::nullopt;
}

}  // namespace assay::ops
