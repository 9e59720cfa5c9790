#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "ops/eval.h"
#include "ops/infer.h"

namespace assay::ops {

// Axes to reduce: ascending, none negative. Empty optional: not known.
std::optional<std::vector<int64_t>> reduced_axes(const Infer& node);
std::vector<int64_t> reduced_axes(const Eval& node);
// Dims of output 0 by the axes of an attribute or, in later versions, input 1, with `keepdims`.
void infer_reduction(Infer& node);
// Dims with those along `axes` made 1 or taken out.
Dims without_axes(const Dims& dims, std::span<const int64_t> axes, bool keeps);

// A tensor seen as lines, one for each element that is left: the elements along the reduced axes, in their order.
class Lines {
 public:
  Lines(const Shape& shape, std::span<const int64_t> axes);

  uint64_t count() const { return count_; }
  uint64_t length() const { return length_; }
  // The elements of one line; `buffer` has room for them.
  template <typename C>
  std::span<const C> line(const std::vector<C>& data, uint64_t index, std::vector<C>& buffer) const {
    if (length_ == 0) return {};
    const uint64_t start = offset(index, kept_);
    if (is_contiguous_) return std::span(data).subspan(start, length_);
    const uint64_t row = reduced_.empty() ? 1 : reduced_.back().size;
    const uint64_t step = reduced_.empty() ? 1 : reduced_.back().stride;
    for (uint64_t at = 0; at < length_; at += row) {
      const uint64_t from = start + offset(at, reduced_);
      for (uint64_t k = 0; k < row; ++k) buffer[at + k] = data[from + k * step];
    }
    return buffer;
  }

 private:
  struct Axis {
    uint64_t size;
    uint64_t stride;
  };
  static uint64_t offset(uint64_t place, const std::vector<Axis>& axes);

  std::vector<Axis> kept_;
  std::vector<Axis> reduced_;
  uint64_t count_ = 1;
  uint64_t length_ = 1;
  bool is_contiguous_ = false;
};

// fn(line) of all lines of a tensor's elements, in carrier R.
template <typename R, typename C, typename Fn>
std::vector<R> reduce_lines(const Lines& lines, const std::vector<C>& data, Fn fn) {
  constexpr uint64_t kGrain = 1 << 15;
  std::vector<R> result(lines.count());
  parallel_for(result.size(), std::max<uint64_t>(kGrain / std::max<uint64_t>(lines.length(), 1), 1),
               [&](uint64_t begin, uint64_t end) {
                 std::vector<C> buffer(lines.length());
                 for (uint64_t i = begin; i < end; ++i) result[i] = fn(lines.line(data, i, buffer));
               });
  return result;
}

}  // namespace assay::ops
