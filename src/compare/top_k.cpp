#include "compare/top_k.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "tensor/elements.h"

namespace assay::compare {
namespace {

// The array as outer x length x inner, of which k along the middle are kept.
struct Layout {
  uint64_t outer = 1;
  uint64_t length = 1;
  uint64_t inner = 1;
  uint64_t kept = 0;
};

Layout make_layout(const tensor::Shape& shape, size_t axis, int64_t k) {
  Layout layout;
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto dim = static_cast<uint64_t>(shape[i]);
    if (i < axis) layout.outer *= dim;
    if (i == axis) layout.length = dim;
    if (i > axis) layout.inner *= dim;
  }
  layout.kept = std::min(static_cast<uint64_t>(k), layout.length);
  return layout;
}

template <typename C>
bool is_before(C x, C y) {
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(y) && !std::isnan(x);
  }
  return x > y;
}

template <typename C>
void rank_list(std::span<const C> elements, const Layout& layout, uint64_t list, std::vector<int64_t>& out) {
  const uint64_t outer = list / layout.inner;
  const uint64_t inner = list % layout.inner;
  const C* from = elements.data() + outer * layout.length * layout.inner + inner;
  std::vector<int64_t> places(layout.length);
  std::iota(places.begin(), places.end(), 0);
  const auto before = [&](int64_t i, int64_t j) {
    const C x = from[static_cast<uint64_t>(i) * layout.inner];
    const C y = from[static_cast<uint64_t>(j) * layout.inner];
    if (is_before(x, y)) return true;
    return !is_before(y, x) && i < j;
  };
  std::partial_sort(places.begin(), places.begin() + static_cast<ptrdiff_t>(layout.kept), places.end(), before);
  for (uint64_t i = 0; i < layout.kept; ++i) out[(outer * layout.kept + i) * layout.inner + inner] = places[i];
}

template <typename C>
std::vector<int64_t> rank(const tensor::Tensor& tensor, const Layout& layout) {
  const std::vector<C> elements = tensor::load_elements<C>(tensor);
  std::vector<int64_t> places(layout.outer * layout.kept * layout.inner);
  if (places.empty()) return places;
  const uint64_t grain = std::max<uint64_t>(1, 4096 / layout.length);
  parallel_for(layout.outer * layout.inner, grain, [&](uint64_t begin, uint64_t end) {
    for (uint64_t list = begin; list < end; ++list) rank_list<C>(elements, layout, list, places);
  });
  return places;
}

size_t checked_axis(int64_t axis, size_t rank) {
  const auto dims = static_cast<int64_t>(rank);
  if (axis < -dims || axis >= dims) fail(ErrorCode::usage, "top-k along axis {} of an array of rank {}", axis, rank);
  return static_cast<size_t>(axis < 0 ? axis + dims : axis);
}

}  // namespace

tensor::Tensor top_k(const tensor::Tensor& tensor, int64_t k, int64_t axis) {
  if (k < 0) fail(ErrorCode::usage, "top-k of {} elements", k);
  tensor::Shape shape = tensor.shape();
  if (shape.empty()) shape = {1};
  const size_t which = checked_axis(axis, shape.size());
  const Layout layout = make_layout(shape, which, k);
  std::vector<int64_t> places;
  switch (tensor::kind(tensor.dtype())) {
    case tensor::DTypeKind::signed_integer:
      places = rank<int64_t>(tensor, layout);
      break;
    case tensor::DTypeKind::unsigned_integer:
    case tensor::DTypeKind::boolean:
      places = rank<uint64_t>(tensor, layout);
      break;
    case tensor::DTypeKind::floating:
      places = rank<double>(tensor, layout);
      break;
    default:
      fail(ErrorCode::unsupported, "elements of `{}` have no order for top-k", tensor::name(tensor.dtype()));
  }
  shape[which] = static_cast<int64_t>(layout.kept);
  return tensor::make_tensor<int64_t>(tensor::DType::int64, shape, places);
}

}  // namespace assay::compare
