#include "engine/program/builder_config.h"

#include <array>

namespace assay::engine {

double seconds_per_tactic(int optimization_level) {
  constexpr std::array<double, kMostOptimizationLevel + 1> kSeconds = {0, 0.002, 0.005, 0.01, 0.03, 0.1};
  return kSeconds.at(static_cast<size_t>(optimization_level));
}

}  // namespace assay::engine
