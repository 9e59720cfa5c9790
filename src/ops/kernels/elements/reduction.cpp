#include "ops/kernels/elements/reduction.h"

#include <algorithm>
#include <numeric>

#include "ops/kernels/elements/broadcast.h"

namespace assay::ops {
namespace {

// Without axes, all of them, unless `noop_with_empty_axes`.
std::vector<int64_t> resolved(const Node& node, std::vector<int64_t> axes, int64_t rank) {
  if (axes.empty() && !node.flag("noop_with_empty_axes")) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  axes = normalize_axes(std::move(axes), rank);
  std::ranges::sort(axes);
  return axes;
}

bool has_axes_input(const Node& node) { return node.schema() && node.schema()->max_inputs > 1; }

// The axes are not known, perhaps their number.
void infer_rank_only(Infer& node) {
  const auto rank = static_cast<size_t>(node.rank(0));
  if (node.flag("keepdims")) return node.set_dims(0, Dims(rank));
  if (!node.is_ranked(1) || node.rank(1) != 1) return;
  const std::optional<int64_t> count = node.dims(1)[0].number();
  if (!count || *count == 0) return;
  if (*count > node.rank(0)) fail(ErrorCode::shape, "{} axes are given for rank {}", *count, rank);
  node.set_dims(0, Dims(rank - static_cast<size_t>(*count)));
}

}  // namespace

std::optional<std::vector<int64_t>> reduced_axes(const Infer& node) {
  if (!node.is_ranked(0)) return std::nullopt;
  if (!has_axes_input(node) || !node.has(1)) return resolved(node, node.integers("axes"), node.rank(0));
  const std::optional<std::vector<int64_t>> axes = node.integers_of(1);
  return axes ? std::optional(resolved(node, *axes, node.rank(0))) : std::nullopt;
}

std::vector<int64_t> reduced_axes(const Eval& node) {
  const bool by_input = has_axes_input(node) && node.has(1);
  return resolved(node, by_input ? node.integers_in(1) : node.integers("axes"), node.rank(0));
}

Dims without_axes(const Dims& dims, std::span<const int64_t> axes, bool keeps) {
  Dims result;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool is_reduced = std::ranges::count(axes, static_cast<int64_t>(i)) != 0;
    if (!is_reduced) result.push_back(dims[i]);
    if (is_reduced && keeps) result.emplace_back(1);
  }
  return result;
}

void infer_reduction(Infer& node) {
  if (has_axes_input(node)) node.require_rank(1, 1);
  if (!node.is_ranked(0)) return;
  const std::optional<std::vector<int64_t>> axes = reduced_axes(node);
  if (!axes) return infer_rank_only(node);
  node.set_dims(0, without_axes(node.dims(0), *axes, node.flag("keepdims")));
}

Lines::Lines(const Shape& shape, std::span<const int64_t> axes) {
  const std::vector<int64_t> strides = row_major_strides(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool is_reduced = std::ranges::count(axes, static_cast<int64_t>(i)) != 0;
    const Axis axis{static_cast<uint64_t>(shape[i]), static_cast<uint64_t>(strides[i])};
    std::vector<Axis>& list = is_reduced ? reduced_ : kept_;
    (is_reduced ? length_ : count_) *= axis.size;
    const bool continues = !list.empty() && list.back().stride == axis.size * axis.stride;
    if (continues) {
      list.back() = {list.back().size * axis.size, axis.stride};
    } else {
      list.push_back(axis);
    }
  }
  is_contiguous_ = length_ == 0 || reduced_.empty() || (reduced_.size() == 1 && reduced_[0].stride == 1);
}

uint64_t Lines::offset(uint64_t place, const std::vector<Axis>& axes) {
  uint64_t result = 0;
  for (size_t i = axes.size(); i-- > 0;) {
    result += place % axes[i].size * axes[i].stride;
    place /= axes[i].size;
  }
  return result;
}

}  // namespace assay::ops
