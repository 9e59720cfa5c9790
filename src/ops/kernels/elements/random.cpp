#include "ops/kernels/elements/random.h"

#include <bit>
#include <cmath>

namespace assay::ops {
namespace {

// A whole number counts as itself, any other float as its bits.
uint64_t seed_of(double value) {
  const bool is_whole = value >= 0 && value < 0x1p32 && value == std::trunc(value);
  return is_whole ? static_cast<uint64_t>(value) : std::bit_cast<uint32_t>(static_cast<float>(value));
}

NumpyRandom seeded(uint64_t seed) { return NumpyRandom(static_cast<uint32_t>(seed ^ (seed >> 32))); }

}  // namespace

NumpyRandom random_of(const Eval& node) {
  const ir::Attribute* seed = node.find("seed");
  if (!seed) return seeded(node.runner().next_seed());
  if (seed->type() == ir::AttributeType::integer) return seeded(static_cast<uint64_t>(node.integer("seed")));
  return seeded(seed_of(node.floating("seed")));
}

}  // namespace assay::ops
