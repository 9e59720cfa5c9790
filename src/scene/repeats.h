#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/repeats.h"

namespace assay::scene {

// Repeats that do not overlap, each with all its occurrences, in ascending order. `living` has for each place the
// number of values that are needed behind it: parts that follow each other are cut where that is least.
std::vector<match::Repeat> choose_repeats(std::span<const uint32_t> classes, std::span<const uint32_t> living);

}  // namespace assay::scene
