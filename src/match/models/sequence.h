#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace assay::match {

// Positions of a longest common subsequence; empty if the sequences differ in so many places that finding it would
// take too long.
std::vector<std::pair<size_t, size_t>> common_subsequence(std::span<const uint64_t> a, std::span<const uint64_t> b);

// Positions of a longest strictly increasing subsequence.
std::vector<size_t> increasing_subsequence(std::span<const size_t> values);

}  // namespace assay::match
