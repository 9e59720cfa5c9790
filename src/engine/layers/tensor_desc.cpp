#include "engine/layers/tensor_desc.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <tuple>
#include <utility>
#include <vector>

namespace assay::engine {
namespace {

constexpr size_t kLeastChannelsLastRank = 3;

// Dims from the innermost outwards.
std::vector<size_t> inner_to_outer(size_t rank, Layout layout) {
  std::vector<size_t> order;
  const bool moves = layout == Layout::channels_last && rank >= kLeastChannelsLastRank;
  if (moves) order.push_back(1);
  for (size_t i = rank; i-- > 0;) {
    if (!moves || i != 1) order.push_back(i);
  }
  return order;
}

// Neighbouring dims that become other ones, and the least stride of them.
struct DimGroup {
  size_t begin, end;
  int64_t stride;
};

// Nullopt where there are no elements, or the same one stands in several places.
std::optional<std::vector<DimGroup>> find_groups(const TensorDesc& desc, const tensor::Shape& dims) {
  if (desc.count() == 0) return std::nullopt;
  std::vector<DimGroup> groups;
  int64_t from = 1, to = 1;
  for (size_t i = 0, j = 0; i < desc.dims.size(); ++i) {
    if (from == to && (groups.empty() || desc.dims[i] != 1))
      groups.push_back({i, i, std::numeric_limits<int64_t>::max()});
    groups.back().end = i + 1;
    if (desc.dims[i] == 1) continue;
    if (desc.strides[i] == 0) return std::nullopt;
    groups.back().stride = std::min(groups.back().stride, desc.strides[i]);
    from *= desc.dims[i];
    while (to < from && j < dims.size()) to *= dims[j++];
  }
  return groups;
}

}  // namespace

int64_t TensorDesc::count() const {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

uint64_t TensorDesc::size_bytes() const { return (static_cast<uint64_t>(count()) * tensor::bit_width(dtype) + 7) / 8; }

TensorDesc make_desc(tensor::DType dtype, tensor::Shape dims, Layout layout) {
  TensorDesc desc{dtype, std::move(dims), {}};
  desc.strides.resize(desc.dims.size());
  int64_t stride = 1;
  for (const size_t i : inner_to_outer(desc.dims.size(), layout)) {
    desc.strides[i] = stride;
    stride *= desc.dims[i];
  }
  return desc;
}

bool has_layout(const TensorDesc& desc, Layout layout) {
  int64_t stride = 1;
  for (const size_t i : inner_to_outer(desc.dims.size(), layout)) {
    if (desc.dims[i] != 1 && desc.strides[i] != stride) return false;
    stride *= desc.dims[i];
  }
  return true;
}

std::optional<TensorDesc> find_reshaped(const TensorDesc& desc, const tensor::Shape& dims) {
  // Runs of old dims that lie as one dim would, outermost first: how many elements, and the stride of the innermost.
  std::vector<std::pair<int64_t, int64_t>> runs;
  for (size_t i = 0; i < desc.dims.size(); ++i) {
    if (desc.dims[i] == 1) continue;
    const bool joins = !runs.empty() && runs.back().second == desc.strides[i] * desc.dims[i];
    if (joins)
      runs.back() = {runs.back().first * desc.dims[i], desc.strides[i]};
    else
      runs.emplace_back(desc.dims[i], desc.strides[i]);
  }
  TensorDesc made{desc.dtype, dims, tensor::Shape(dims.size(), 1)};
  size_t taken = runs.size();
  int64_t left = 1;    // of the run that is being divided
  int64_t stride = 1;  // of the next dim in it
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1) continue;
    if (left == 1) {
      if (taken == 0) return std::nullopt;
      std::tie(left, stride) = runs[--taken];
    }
    if (left % dims[i] != 0) return std::nullopt;
    made.strides[i] = stride;
    left /= dims[i];
    stride *= dims[i];
  }
  return made;
}

TensorDesc make_reshapable(const TensorDesc& desc, const tensor::Shape& dims) {
  const std::optional<std::vector<DimGroup>> groups = find_groups(desc, dims);
  if (!groups) return make_desc(desc.dtype, desc.dims);
  std::vector<DimGroup> order = *groups;
  std::ranges::stable_sort(order, std::ranges::greater(), &DimGroup::stride);
  TensorDesc made{desc.dtype, desc.dims, tensor::Shape(desc.dims.size(), 1)};
  int64_t stride = 1;
  for (const DimGroup& group : std::views::reverse(order)) {
    for (size_t i = group.end; i-- > group.begin;) {
      made.strides[i] = stride;
      stride *= desc.dims[i];
    }
  }
  return made;
}

std::vector<size_t> memory_order(const TensorDesc& desc) {
  std::vector<size_t> order;
  for (size_t i = 0; i < desc.dims.size(); ++i) {
    if (desc.dims[i] != 1) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return desc.strides[a] > desc.strides[b]; });
  return order;
}

std::vector<size_t> inner_first(const TensorDesc& desc) {
  std::vector<size_t> order = memory_order(desc);
  std::ranges::reverse(order);
  for (size_t dim = 0; dim < desc.dims.size(); ++dim) {
    if (desc.dims[dim] == 1) order.push_back(dim);
  }
  return order;
}

bool is_dense(const TensorDesc& desc) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // strides and sizes
  for (size_t i = 0; i < desc.dims.size(); ++i) {
    if (desc.dims[i] != 1) dims.emplace_back(desc.strides[i], desc.dims[i]);
  }
  std::ranges::sort(dims);
  int64_t expected = 1;
  for (const auto& [stride, size] : dims) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

}  // namespace assay::engine
