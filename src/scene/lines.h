#pragma once

#include "scene/make.h"

namespace assay::scene {

// One value in the picture of one group: from a child, or the border (kNoItem), to another.
struct Strand {
  uint32_t group;
  uint32_t value;
  uint32_t from;
  uint32_t to;
  auto operator<=>(const Strand&) const = default;
};

// The pieces of all values, group by group. A value between boxes of different groups is a strand in the innermost
// group that holds both, and one from or to the border in each group below it.
std::vector<Strand> find_strands(const results::Scene& scene);

// Draws each group, with all of its children closed. Groups whose pictures are the same share their bends.
void draw_groups(results::Scene& scene);

}  // namespace assay::scene
