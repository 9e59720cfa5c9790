// TopK along the last axis.
#include "engine/layers/top_k.h"

#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/best_elements.h"

namespace assay::engine::cpu {
namespace {

const BestOf<float>& loops_for(float, bool takes_largest) {
  return takes_largest ? best_elements().largest : best_elements().smallest;
}
const BestOf<int64_t>& loops_for(int64_t, bool takes_largest) {
  return takes_largest ? best_elements().largest_whole : best_elements().smallest_whole;
}

// NaN is larger than every number.
template <typename T>
bool is_larger(T a, T b) {
  return a > b || (a != a && b == b);
}

// The elements of a row are dealt out to so many columns that the best ones of columns bound what may be among the best
// of all: few elements are as good.
template <typename T>
class TopKKernel final : public PlainKernel {
 public:
  explicit TopKKernel(const TopKForm& rules)
      : r_(rules), loops_(loops_for(T{}, rules.takes_largest)), columns_(rounded_up(2 * r_.count, kLeastColumns)) {
    lanes_ = std::clamp<int64_t>(r_.rows * r_.length / kGrain, 1, std::min<int64_t>(thread_count(), r_.rows));
  }

  uint64_t workspace_bytes() const override { return static_cast<uint64_t>(lanes_ * lane_bytes()); }

  void run(const Arguments& arguments) const override {
    parallel_for(static_cast<uint64_t>(lanes_), 1, [&](uint64_t begin, uint64_t end) {
      for (auto lane = static_cast<int64_t>(begin); lane < static_cast<int64_t>(end); ++lane) {
        const Address memory = arguments.workspace + static_cast<uint64_t>(lane * lane_bytes());
        const auto [first, last] = lane_of(r_.rows, lanes_, lane);
        for (int64_t row = first; row < last; ++row) run_row(arguments, row, memory);
      }
    });
  }

 private:
  static constexpr int64_t kLeastColumns = 64;
  static constexpr int64_t kLeastRows = 4;  // of columns: with fewer all elements are sorted
  static constexpr int64_t kFew = 16;
  static constexpr int64_t kGrain = 1 << 14;  // elements

  bool is_bounded() const { return columns_ * kLeastRows <= r_.length; }
  // The best elements of columns, and places of what may be among the best of all.
  int64_t lane_bytes() const {
    return rounded_up(columns_ * static_cast<int64_t>(sizeof(T)) + r_.length * static_cast<int64_t>(sizeof(int32_t)),
                      64);
  }

  void run_row(const Arguments& arguments, int64_t row, Address memory) const {
    const T* const x = host<const T>(arguments.inputs[0]) + row * r_.length;
    auto* const places = host<int32_t>(memory + static_cast<uint64_t>(columns_) * sizeof(T));
    if (!is_bounded() && r_.count <= kFew)
      insert(x, places);
    else
      select(x, host<T>(memory), places);
    for (int64_t i = 0; i < r_.count; ++i) {
      if (r_.gives_values) host<T>(arguments.outputs[0])[row * r_.count + i] = x[places[i]];
      if (r_.gives_indices) host<int64_t>(arguments.outputs[1])[row * r_.count + i] = places[i];
    }
  }

  // Inserts the elements of a short row: each goes behind those that are as good.
  void insert(const T* x, int32_t* places) const {
    for (int64_t i = 0; i < r_.length; ++i) {
      int64_t at = std::min(i, r_.count - 1);
      if (i >= r_.count && !is_better(x[i], x[places[at]])) continue;
      for (; at > 0 && is_better(x[i], x[places[at - 1]]); --at) places[at] = places[at - 1];
      places[at] = static_cast<int32_t>(i);
    }
  }

  void select(const T* x, T* columns, int32_t* places) const {
    auto found = static_cast<size_t>(r_.length);
    if (is_bounded())
      found = loops_.collect(x, found, find_bound(x, columns), static_cast<size_t>(r_.count), places);
    else
      std::iota(places, places + found, 0);
    sort(x, places, found);
  }

  bool is_better(T a, T b) const { return r_.takes_largest ? is_larger(a, b) : is_larger(b, a); }

  // At least `count` elements are as good as this one.
  T find_bound(const T* x, T* kept) const {
    std::copy_n(x, columns_, kept);
    for (int64_t i = columns_; i < r_.length; i += columns_)
      loops_.keep(kept, x + i, static_cast<size_t>(std::min(columns_, r_.length - i)));
    T* const bound = kept + r_.count - 1;
    std::nth_element(kept, bound, kept + columns_, [&](T a, T b) { return is_better(a, b); });
    return *bound;
  }

  // The best first; of equal ones the lower place first.
  void sort(const T* x, int32_t* places, size_t found) const {
    const auto stands_before = [&](int32_t a, int32_t b) {
      return is_better(x[a], x[b]) || (!is_better(x[b], x[a]) && a < b);
    };
    int32_t* const last = places + r_.count;
    if (last != places + found) std::nth_element(places, last, places + found, stands_before);
    std::sort(places, last, stands_before);
  }

  TopKForm r_;
  const BestOf<T>& loops_;
  int64_t columns_;
  int64_t lanes_ = 1;
};

class TopK final : public Implementation {
 public:
  std::string_view name() const override { return "top_k.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<TopKForm> form = find_top_k(layer);
    if (!form) return {};
    const tensor::DType dtype = layer.inputs[0].dtype;
    if (dtype == tensor::DType::float32) return std::make_unique<TopKKernel<float>>(*form);
    return dtype == tensor::DType::int64 ? std::make_unique<TopKKernel<int64_t>>(*form) : nullptr;
  }
};

}  // namespace

KernelFamily cpu_kernel_top_k() { return family_of<TopK>(); }

}  // namespace assay::engine::cpu
