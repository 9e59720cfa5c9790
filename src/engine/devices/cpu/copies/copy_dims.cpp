#include "engine/devices/cpu/copies/copy_dims.h"

#include <algorithm>

namespace assay::engine::cpu {

std::vector<CopyDim> copy_dims(const TensorDesc& from, const TensorDesc& to) {
  std::vector<CopyDim> dims;
  for (size_t i = 0; i < to.dims.size(); ++i) {
    if (to.dims[i] != 1) dims.push_back({to.dims[i], from.strides[i], to.strides[i]});
  }
  std::ranges::stable_sort(dims, std::ranges::greater(), &CopyDim::to);
  std::vector<CopyDim> joined;
  for (const CopyDim& dim : dims) {
    const bool joins =
        !joined.empty() && joined.back().from == dim.from * dim.size && joined.back().to == dim.to * dim.size;
    if (joins)
      joined.back() = {joined.back().size * dim.size, dim.from, dim.to};
    else
      joined.push_back(dim);
  }
  while (joined.size() < 2) joined.insert(joined.begin(), {1, 0, 0});
  return joined;
}

CopyPlace copy_place(const std::vector<CopyDim>& dims, int64_t outer) {
  CopyPlace place;
  for (size_t i = dims.size() - 2; i-- > 0;) {
    const int64_t at = outer % dims[i].size;
    outer /= dims[i].size;
    place.from += at * dims[i].from;
    place.to += at * dims[i].to;
  }
  return place;
}

}  // namespace assay::engine::cpu
