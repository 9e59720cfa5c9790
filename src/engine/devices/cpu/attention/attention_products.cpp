#include "engine/devices/cpu/attention/attention_products.h"

#include <cmath>

namespace assay::engine::cpu {

float AttentionProducts::reach(const AttentionChunk& chunk, AttentionRange keys) const {
  const AttentionGeometry& g = operands_.g;
  const Greatest greatest = greatest_of(chunk, keys);
  constexpr float kRoundings = 1.01F;
  const float sum = greatest.query * greatest.key * static_cast<float>(g.depth) * kRoundings;
  const float nothing = 0 * greatest.value;  // NaN where zero times a value is none
  return std::fabs(g.divides ? sum / g.scale : sum * g.scale) + nothing;
}

}  // namespace assay::engine::cpu
