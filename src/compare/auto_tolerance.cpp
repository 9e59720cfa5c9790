#include "compare/auto_tolerance.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace assay::compare {
namespace {

using tensor::DType;

constexpr double kSafety = 8;              // two sides, and the worst of millions of elements
constexpr double kTranscendentalUlps = 4;  // of a vectorised function beside the C library's

// Half the distance from 1 to the next number; 0 for integers.
double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::float64:
    case DType::complex128:
      return 0x1p-53;
    case DType::float32:
    case DType::complex64:
      return 0x1p-24;
    case DType::float16:
      return 0x1p-11;
    case DType::bfloat16:
      return 0x1p-8;
    case DType::float8e4m3fn:
    case DType::float8e4m3fnuz:
    case DType::float6e2m3:
      return 0x1p-4;
    case DType::float8e5m2:
    case DType::float8e5m2fnuz:
    case DType::float6e3m2:
      return 0x1p-3;
    case DType::float4e2m1:
      return 0x1p-2;
    case DType::float8e8m0:
      return 0.5;
    default:
      return 0;
  }
}

std::string reason_text(const Computation& computation, double magnitude, double share) {
  const std::string quantized =
      computation.quantized_bits == 0 ? "" : fmt::format(", quantized to {} bits", computation.quantized_bits);
  return fmt::format(
      "{} products and {} roundings in {} on the longest path{}, mean magnitude {:.3g}: relative error {:.3g}",
      computation.accumulation_length, computation.depth, tensor::name(computation.coarsest), quantized, magnitude,
      share);
}

}  // namespace

Tolerance computed_tolerance(const Computation& computation) {
  const double roundoff = unit_roundoff(computation.coarsest);
  if (unit_roundoff(computation.output) == 0) {
    if (roundoff == 0) return {0, 0, "integers computed from integers are exact"};
    return {1, 0, fmt::format("integers rounded from {} may fall to either side", tensor::name(computation.coarsest))};
  }
  const double steps = static_cast<double>(computation.accumulation_length) +
                       static_cast<double>(std::max<uint64_t>(computation.depth, 1));
  double error = roundoff * std::sqrt(steps) + unit_roundoff(computation.output);
  if (computation.transcendental) error += kTranscendentalUlps * roundoff;
  // One side may round to the next step where the other does not.
  const double step = computation.quantized_bits == 0 ? 0 : std::exp2(1.0 - computation.quantized_bits);
  const double share = std::min(kSafety * error + step, 0.5);
  const double magnitude = std::isfinite(computation.magnitude) ? std::fabs(computation.magnitude) : 0;
  return {share * magnitude, share, reason_text(computation, magnitude, share)};
}

}  // namespace assay::compare
