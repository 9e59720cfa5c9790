#pragma once

#include <algorithm>
#include <cstdint>

#include "base/parallel.h"

namespace assay::engine::cpu {

// Calls fn(line) for lines of so many codes, by all threads.
template <typename Fn>
void for_code_lines(int64_t lines, int64_t codes, Fn&& fn) {
  constexpr int64_t kCodesAtOnce = 1 << 14;  // of a thread
  const auto grain = static_cast<uint64_t>(std::max<int64_t>(1, kCodesAtOnce / std::max<int64_t>(1, codes)));
  parallel_for(static_cast<uint64_t>(lines), grain, [&](uint64_t begin, uint64_t end) {
    for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) fn(i);
  });
}

}  // namespace assay::engine::cpu
