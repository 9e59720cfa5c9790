#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/lowering/precision.h"
#include "engine/program/profile.h"
#include "engine/tactics/tactics.h"

namespace assay::engine {

// Options for building an engine. Every way to ask for an engine fills in this one.
struct BuilderConfig {
  bool is_strict = false;  // nothing but the order of sums may change bits
  Precision precision;
  TacticOptions tactics;
  std::vector<ProfileShapes> profiles;  // none: shapes are planned when they come
};

// Level of measuring, from 0 to 5. At 0 nothing is measured: the first tactic that computes a layer is taken.
inline constexpr int kMostOptimizationLevel = 5;
double seconds_per_tactic(int optimization_level);

}  // namespace assay::engine
