#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/function_ref.h"

namespace assay::debug {

// Some of the things 0, 1, 2, …, ascending.
using Subset = std::vector<uint32_t>;

enum class Verdict : uint8_t {
  passes,
  fails,
  unresolved,  // there was nothing to judge: it cannot be made, or fails in another way
};

struct MinimizeOptions {
  bool is_linear = false;         // one by one from the whole down, for failures that come and go
  size_t at_a_time = 1;           // subsets that are judged together
  bool knows_whole_fails = true;  // otherwise the whole is judged too, once nothing else that was likely to has failed
};

// Judges subsets, none of them empty; `remaining` is about how many more will follow.
using SubsetJudge = FunctionRef<std::vector<Verdict>(std::span<const Subset> subsets, uint64_t remaining)>;

// A smallest part of the things 0 … count-1, which together fail, that still fails: no single one of them can go. Each
// that is needed is found by halving: the shortest beginning with which all that were found before fail; what stands
// next to those is tried first. No subset is judged twice, and the empty one passes. Empty if nothing fails.
Subset minimize(uint32_t count, SubsetJudge judge, const MinimizeOptions& options);

}  // namespace assay::debug
