#include <cmath>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/text.h"
#include "ir/queries.h"
#include "lint/check.h"
#include "tensor/casts.h"

namespace assay::lint {
namespace {

using tensor::DType;

constexpr double kGreatestHalf = 65504;
constexpr double kHalfOverflow = 65520;  // rounds to infinity in float16
constexpr uint64_t kPiece = 1 << 16;
constexpr uint64_t kTile = 1024;

// Notable elements of a tensor.
struct Census {
  uint64_t nans = 0;
  uint64_t infinities = 0;
  uint64_t denormals = 0;
  uint64_t beyond_half = 0;
  double greatest = 0;  // magnitude of finite elements
};

Census add(Census a, const Census& b) {
  return {a.nans + b.nans, a.infinities + b.infinities, a.denormals + b.denormals, a.beyond_half + b.beyond_half,
          std::max(a.greatest, b.greatest)};
}

// The least normal number of a type; 0 where denormals are of no interest.
double least_normal(DType dtype) {
  switch (dtype) {
    case DType::float32:
    case DType::bfloat16:
      return std::ldexp(1.0, -126);
    case DType::float16:
      return std::ldexp(1.0, -14);
    case DType::float64:
      return std::ldexp(1.0, -1022);
    default:
      return 0;
  }
}

void count(double x, double normal, Census& census) {
  const double magnitude = std::fabs(x);
  if (std::isnan(x)) {
    ++census.nans;
  } else if (std::isinf(x)) {
    ++census.infinities;
  } else {
    census.denormals += magnitude != 0 && magnitude < normal ? 1 : 0;
    census.beyond_half += magnitude >= kHalfOverflow ? 1 : 0;
    census.greatest = std::max(census.greatest, magnitude);
  }
}

Census take_census(const tensor::Tensor& tensor) {
  const double normal = least_normal(tensor.dtype());
  const bool is_fill = !tensor.storage()->fill_pattern().empty();
  const tensor::Bytes bytes = is_fill ? tensor.storage()->fill_pattern() : tensor.bytes();
  const auto count_piece = [&](uint64_t begin, uint64_t end) {
    Census census;
    std::array<double, kTile> tile;
    for (uint64_t at = begin; at < end; at += kTile) {
      const std::span<double> part = std::span(tile).first(std::min(kTile, end - at));
      tensor::load(tensor.dtype(), bytes, at, part);
      for (const double x : part) count(x, normal, census);
    }
    return census;
  };
  return parallel_reduce(is_fill ? std::min<uint64_t>(tensor.count(), 1) : tensor.count(), kPiece, Census(),
                         count_piece, add);
}

void report_weights(std::string_view name, const tensor::Tensor& tensor, Findings& findings) {
  if (!tensor::is_floating(tensor.dtype()) || tensor.count() == 0) return;
  const Census census = take_census(tensor);
  const auto warn = [&](std::string_view code, std::string message) {
    findings.add(LintLevel::warning, kAnalysis, code, fmt::format("weight `{}`: {}", printable(name), message));
  };
  const auto count_of = [&](uint64_t count) { return fmt::format("{} of {} elements", count, tensor.count()); };
  if (census.nans) warn("nan_weight", count_of(census.nans) + " are NaN");
  if (census.infinities) warn("inf_weight", count_of(census.infinities) + " are infinite");
  if (census.denormals) {
    warn("denormal_weight", count_of(census.denormals) + " are denormal: slow, and zero on hardware that flushes them");
  }
  if (census.beyond_half && tensor.dtype() != DType::float16) {
    warn("fp16_overflow", fmt::format("{} overflow in float16 (greatest magnitude {:.6g}, limit {})",
                                      count_of(census.beyond_half), census.greatest, kGreatestHalf));
  }
}

void report_value(const Subject& subject, ir::ValueId id, Findings& findings) {
  const ir::Model& model = subject.model;
  if (!model[id].constant.valid()) return;
  const ir::TensorEntry& entry = model[model[id].constant];
  report_weights(model.text(model[id].name), entry.sparse ? entry.sparse->values : entry.tensor, findings);
}

void report_constant(const Subject& subject, ir::NodeId id, Findings& findings) {
  const ir::Model& model = subject.model;
  if (!ir::is_constant_node(model, id) || model[id].results.empty() || !model[id].results[0]) return;
  const ir::Attribute* value = model.find_attribute(model[id], "value");
  if (!value || value->type() != ir::AttributeType::tensor || value->tensors().empty()) return;
  report_weights(model.text(model[model[id].results[0]].name), model[value->tensors()[0]].tensor, findings);
}

}  // namespace

Check check_weights() {
  return {"weights that are NaN, infinite, denormal, or too large for float16",
          50,
          {{.at_value = report_value}, {.at_node = report_constant}}};
}

}  // namespace assay::lint
