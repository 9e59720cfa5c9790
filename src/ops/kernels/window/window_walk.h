#pragma once

#include <algorithm>
#include <vector>

#include "ops/kernels/window/window.h"

namespace assay::ops {

// The elements of a plane that each window sees, padding left out.
class WindowWalk {
 public:
  explicit WindowWalk(const Window& window) : window_(window) {
    for (const WindowAxis& axis : window_) windows_ *= static_cast<uint64_t>(axis.out);
    for (const WindowAxis& axis : window_) plane_ *= static_cast<uint64_t>(axis.in);
  }

  uint64_t windows() const { return windows_; }
  uint64_t plane() const { return plane_; }  // elements

  // Calls fn(first, step, count) for every line of elements that window `index` sees, in ascending order.
  template <typename Fn>
  void lines(uint64_t index, Fn fn) const {
    visit(0, index, windows_, 0, fn);
  }

  // Elements of window `index` when padding (but nothing beyond it) counts.
  uint64_t padded_size(uint64_t index) const;

 private:
  struct Taps {
    int64_t first = 0;  // place of the first tap within the input
    int64_t count = 0;
  };
  // The taps of window `o` along an axis that lie inside.
  static Taps taps_inside(const WindowAxis& axis, int64_t o) {
    const int64_t start = axis.place(o, 0);
    const int64_t skipped = start < 0 ? (-start + axis.dilation - 1) / axis.dilation : 0;
    const int64_t first = start + skipped * axis.dilation;
    const int64_t room = first < axis.in ? (axis.in - 1 - first) / axis.dilation + 1 : 0;
    return {first, std::max<int64_t>(std::min(axis.kernel - skipped, room), 0)};
  }

  // Places the taps of `axis` and those behind it; window `index` of `windows` over these axes.
  template <typename Fn>
  void visit(size_t axis, uint64_t index, uint64_t windows, int64_t line, Fn& fn) const {
    const WindowAxis& own = window_[axis];
    const uint64_t behind = windows / static_cast<uint64_t>(own.out);
    const Taps taps = taps_inside(own, static_cast<int64_t>(index / behind));
    const int64_t first = line * own.in + taps.first;
    if (axis + 1 == window_.size()) {
      if (taps.count > 0)
        fn(static_cast<uint64_t>(first), static_cast<uint64_t>(own.dilation), static_cast<uint64_t>(taps.count));
      return;
    }
    for (int64_t k = 0; k < taps.count; ++k) visit(axis + 1, index % behind, behind, first + k * own.dilation, fn);
  }

  const Window& window_;
  uint64_t windows_ = 1;
  uint64_t plane_ = 1;
};

}  // namespace assay::ops
