#include "tasks/generation/cache_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tasks/generation/feeds.h"
#include "tensor/casts.h"

namespace assay::tasks {
namespace {

using tensor::Tensor;

Tensor written_part(const analysis::CacheFeed& cache, const Tensor& tensor, uint64_t past, uint64_t now) {
  const tensor::Shape& shape = tensor.shape();
  const uint64_t width = tensor::bit_width(tensor.dtype()) / 8;
  if (!cache.axis || *cache.axis >= shape.size() || tensor.count() == 0 || width == 0) return tensor;
  const auto length = static_cast<uint64_t>(shape[*cache.axis]);
  uint64_t inner = width;
  for (size_t i = *cache.axis + 1; i < shape.size(); ++i) inner *= static_cast<uint64_t>(shape[i]);
  const uint64_t count = std::min(now, length);
  const uint64_t begin = cache.grows ? length - count : std::min(past, length - count);
  const tensor::Bytes all = tensor.bytes();
  std::vector<std::byte> part;
  part.reserve(all.size() / length * count);
  for (uint64_t at = begin * inner; at < all.size(); at += length * inner) {
    const tensor::Bytes piece = all.subspan(at, count * inner);
    part.insert(part.end(), piece.begin(), piece.end());
  }
  tensor::Shape dims = shape;
  dims[*cache.axis] = static_cast<int64_t>(count);
  return Tensor(tensor.dtype(), std::move(dims), tensor::make_owned(std::move(part)));
}

class ErrorSum {
 public:
  void add(const std::string& name, const Tensor& a, const Tensor& b) {
    std::vector<double> x(a.count());
    std::vector<double> y(a.count());
    tensor::load(a.dtype(), a.bytes(), 0, std::span(x));
    tensor::load(b.dtype(), b.bytes(), 0, std::span(y));
    double greatest = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double difference = std::abs(x[i] - y[i]);
      if (!(difference <= greatest)) greatest = difference;
      squares_ += difference * difference;
      reference_ += x[i] * x[i];
    }
    raise(name, greatest);
  }

  void raise(const std::string& name, double difference) {
    if (!error_.worst.empty() && difference <= error_.max_abs) return;
    error_.max_abs = difference;
    error_.worst = name;
  }

  CacheError take() {
    error_.relative = squares_ == 0 ? 0 : std::sqrt(squares_ / reference_);
    if (std::isinf(error_.max_abs)) error_.relative = error_.max_abs;
    return std::move(error_);
  }

 private:
  CacheError error_;
  double squares_ = 0;
  double reference_ = 0;
};

}  // namespace

std::vector<Tensor> written_parts(const std::vector<analysis::CacheFeed>& caches, const tensor::NamedData& outputs,
                                  uint64_t past, uint64_t now) {
  std::vector<Tensor> parts;
  for (const analysis::CacheFeed& cache : caches) {
    const tensor::Datum* datum = find_datum(outputs, cache.output);
    const bool is_there = datum != nullptr && datum->is_tensor();
    parts.push_back(is_there ? written_part(cache, datum->tensor(), past, now) : Tensor());
  }
  return parts;
}

std::optional<CacheError> cache_error(const std::vector<analysis::CacheFeed>& caches, const std::vector<Tensor>& first,
                                      const std::vector<Tensor>& other) {
  ErrorSum sum;
  bool has_any = false;
  for (size_t i = 0; i < std::min(first.size(), other.size()); ++i) {
    if (first[i].count() == 0 && other[i].count() == 0) continue;
    has_any = true;
    if (first[i].shape() == other[i].shape())
      sum.add(caches[i].output, first[i], other[i]);
    else
      sum.raise(caches[i].output, std::numeric_limits<double>::infinity());
  }
  return has_any ? std::optional(sum.take()) : std::nullopt;
}

}  // namespace assay::tasks
