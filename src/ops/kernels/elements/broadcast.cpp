#include "ops/kernels/elements/broadcast.h"

#include <algorithm>

#include "tensor/casts.h"

namespace assay::ops {

std::vector<int64_t> row_major_strides(const tensor::Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

BroadcastReader::BroadcastReader(const tensor::Tensor& tensor, const tensor::Shape& to)
    : dtype_(tensor.dtype()),
      bytes_(tensor::kind(tensor.dtype()) == tensor::DTypeKind::string ? tensor::Bytes{} : tensor.bytes()),
      is_whole_(tensor.shape() == to) {
  const std::vector<int64_t> own = row_major_strides(tensor.shape());
  const size_t lead = to.size() - tensor.shape().size();
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 1) continue;
    const int64_t stride = i < lead || tensor.shape()[i - lead] == 1 ? 0 : own[i - lead];
    const bool continues = !dims_.empty() && strides_.back() == stride * to[i];
    if (continues) {
      dims_.back() *= to[i];
      strides_.back() = stride;
    } else {
      dims_.push_back(to[i]);
      strides_.push_back(stride);
    }
  }
  if (dims_.empty()) {
    dims_.push_back(1);
    strides_.push_back(0);
  }
}

uint64_t BroadcastReader::source_of(uint64_t place) const {
  uint64_t source = 0;
  for (size_t i = dims_.size(); i-- > 0;) {
    const auto dim = static_cast<uint64_t>(dims_[i]);
    source += place % dim * static_cast<uint64_t>(strides_[i]);
    place /= dim;
  }
  return source;
}

template <typename C>
void BroadcastReader::load(uint64_t first, std::span<C> out) const {
  tensor::load(dtype_, bytes_, first, out);
}

template <typename C>
void BroadcastReader::read(uint64_t begin, std::span<C> out) const {
  if (is_whole_) return load(begin, out);
  const auto row = static_cast<uint64_t>(dims_.back());
  while (!out.empty()) {
    const uint64_t length = std::min<uint64_t>(out.size(), row - begin % row);
    const std::span<C> run = out.first(length);
    if (strides_.back() == 0) {
      load(source_of(begin), run.first(1));
      std::ranges::fill(run.subspan(1), run[0]);
    } else {
      load(source_of(begin), run);
    }
    out = out.subspan(length);
    begin += length;
  }
}

template void BroadcastReader::read(uint64_t, std::span<double>) const;
template void BroadcastReader::read(uint64_t, std::span<int64_t>) const;
template void BroadcastReader::read(uint64_t, std::span<uint64_t>) const;

}  // namespace assay::ops
