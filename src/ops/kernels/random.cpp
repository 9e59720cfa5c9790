#include "ops/kernels/random.h"

#include <bit>
#include <cmath>

namespace assay::ops {
namespace {

// A whole number counts as itself, any other float as its bits.
uint64_t seed_of(double value) {
  const bool is_whole = value >= 0 && value < 0x1p32 && value == std::trunc(value);
  return is_whole ? static_cast<uint64_t>(value) : std::bit_cast<uint32_t>(static_cast<float>(value));
}

}  // namespace

double Random::uniform() {
  const uint64_t high = engine_() >> 5;
  const uint64_t low = engine_() >> 6;
  return static_cast<double>(high << 26 | low) * 0x1p-53;
}

double Random::normal() {
  if (has_next_) {
    has_next_ = false;
    return next_normal_;
  }
  double x = 0;
  double y = 0;
  double square = 0;
  do {
    x = 2 * uniform() - 1;
    y = 2 * uniform() - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  const double factor = std::sqrt(-2 * std::log(square) / square);
  next_normal_ = factor * x;
  has_next_ = true;
  return factor * y;
}

Random random_of(const Eval& node) {
  const ir::Attribute* seed = node.find("seed");
  if (!seed) return Random(node.runner().next_seed());
  if (seed->type() == ir::AttributeType::integer) return Random(static_cast<uint64_t>(node.integer("seed")));
  return Random(seed_of(node.floating("seed")));
}

}  // namespace assay::ops
