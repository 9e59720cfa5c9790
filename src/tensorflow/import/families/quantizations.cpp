#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

using tensor::DType;

// The output is quantised as every other is that the file says so of.
void make_quantize(Site& site) { site.give(0, site.input(0)); }

// Halves, in which files keep weights, only change their type.
void make_dequantize(Site& site) { site.give(0, site.build().cast(site.input(0), DType::float32)); }

struct Range {
  double least;
  double most;
};

double element_of(Site& site, size_t index) {
  const tensor::Tensor* const tensor = site.build().constant_of(site.input(index));
  if (tensor == nullptr || tensor->count() != 1 || tensor->dtype() != DType::float32) {
    site.refuse("the range that it quantizes to must be constant");
  }
  float number = 0;
  std::memcpy(&number, tensor->bytes().data(), sizeof(number));
  return number;
}

// Codes from 0, or from 1 in the narrow range, to the most that the bits hold; the range is moved so that 0 is a code.
void quantize_and_back(Site& site, const Range& range) {
  const int64_t bits = site.attribute("num_bits", 8);
  if (bits < 2 || bits > 16) fail(ErrorCode::parse, "it quantizes to {} bits", bits);
  const double first = site.attribute("narrow_range", 0) != 0 ? 1 : 0;
  const double last = static_cast<double>((int64_t{1} << bits) - 1);
  const double scale = (range.most - range.least) / (last - first);
  if (!(scale > 0)) fail(ErrorCode::parse, "the range that it quantizes to is empty");
  const double zero = std::clamp(std::round(first - range.least / scale), first, last);
  const ir::ValueId x = site.input(0);
  const auto like = [&](double number) { return site.scalar_like(x, number); };
  const ir::ValueId clipped = site.pointwise("Clip", {x, like((first - zero) * scale), like((last - zero) * scale)});
  const ir::ValueId shifted = site.pointwise("Sub", {clipped, like((first - zero) * scale)});
  const ir::ValueId steps = site.pointwise("Add", {site.pointwise("Div", {shifted, like(scale)}), like(0.5)});
  const ir::ValueId back = site.pointwise("Mul", {site.pointwise("Floor", {steps}), like(scale)});
  site.give(0, site.pointwise("Add", {back, like((first - zero) * scale)}));
}

void make_fake_by_arguments(Site& site) { quantize_and_back(site, {site.number("min", -6), site.number("max", 6)}); }

void make_fake_by_variables(Site& site) { quantize_and_back(site, {element_of(site, 1), element_of(site, 2)}); }

constexpr std::array kQuantizationRows = {
    Maker{"", "DEQUANTIZE", make_dequantize},
    Maker{"FakeQuantWithMinMaxArgs", "", make_fake_by_arguments},
    Maker{"FakeQuantWithMinMaxVars", "", make_fake_by_variables},
    Maker{"", "QUANTIZE", make_quantize},
};

}  // namespace

Makers quantization_makers() { return kQuantizationRows; }

}  // namespace assay::tensorflow
