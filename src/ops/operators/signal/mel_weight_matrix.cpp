#include <cmath>

#include "ops/kernels/elements/result_type.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

struct Sizes {
  int64_t mel_bins;
  int64_t dft_length;
  int64_t sample_rate;
};

void check(const Sizes& sizes) {
  const auto& [mel_bins, dft_length, sample_rate] = sizes;
  if (mel_bins < 0) fail(ErrorCode::shape, "the number of mel bins must not be negative, it is {}", mel_bins);
  if (dft_length < 0) fail(ErrorCode::shape, "the DFT length must not be negative, it is {}", dft_length);
  if (sample_rate < 1) fail(ErrorCode::shape, "the sample rate must be positive, it is {}", sample_rate);
}

void infer_mel(Infer& node) {
  node.set_dtype(0, result_type(node, "output_datatype"));
  for (uint32_t i = 0; i < 5; ++i) {
    if (node.is_ranked(i) && product(node.dims(i)).is_number() && !product(node.dims(i)).is(1)) {
      fail(ErrorCode::shape, "input {} must be a scalar, its shape is {}", i, text(node.dims(i)));
    }
  }
  const std::optional<int64_t> bins = node.integer_of(0);
  const std::optional<int64_t> length = node.integer_of(1);
  check({bins.value_or(1), length.value_or(1), node.integer_of(2).value_or(1)});
  node.set_dims(0, {length ? Dim(*length / 2 + 1) : Dim(), bins ? Dim(*bins) : Dim()});
}

double mel_of(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double hertz_of(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

// Spectrogram bins of the corners of the triangles: evenly spaced on the mel scale, in steps of the whole range divided
// by the number of corners (as ONNX's tests have it, not one less).
std::vector<int64_t> corners(const Sizes& sizes, double lower, double upper) {
  const int64_t count = sizes.mel_bins + 2;
  const double low = mel_of(lower);
  const double step = (mel_of(upper) - low) / static_cast<double>(count);
  const int64_t bins = sizes.dft_length / 2 + 1;
  std::vector<int64_t> result;
  for (int64_t i = 0; i < count; ++i) {
    const double hertz = hertz_of(static_cast<double>(i) * step + low);
    const double bin =
        std::floor((static_cast<double>(sizes.dft_length) + 1) * hertz / static_cast<double>(sizes.sample_rate));
    if (!(bin >= 0 && bin < static_cast<double>(bins))) {
      fail(ErrorCode::shape, "frequency {} falls into bin {} of {}", hertz, bin, bins);
    }
    result.push_back(static_cast<int64_t>(bin));
  }
  return result;
}

void eval_mel(Eval& node) {
  const Sizes sizes{node.scalar<int64_t>(0, 0), node.scalar<int64_t>(1, 0), node.scalar<int64_t>(2, 0)};
  const std::vector<int64_t> corner = corners(sizes, node.scalar<double>(3, 0), node.scalar<double>(4, 0));
  std::vector<double> weights(node.out_count(0));
  const auto width = static_cast<size_t>(sizes.mel_bins);
  for (size_t i = 0; i < width; ++i) {
    const auto weight = [&](int64_t bin) -> double& { return weights[static_cast<size_t>(bin) * width + i]; };
    const int64_t rise = corner[i + 1] - corner[i];
    const int64_t fall = corner[i + 2] - corner[i + 1];
    for (int64_t k = 0; k < rise; ++k) weight(corner[i] + k) = static_cast<double>(k) / static_cast<double>(rise);
    weight(corner[i + 1]) = 1;
    for (int64_t k = 1; k < fall; ++k) weight(corner[i + 2] - k) = static_cast<double>(k) / static_cast<double>(fall);
  }
  node.store(0, std::move(weights));
}

}  // namespace

OperatorRows operator_signal_mel_weight_matrix() {
  static constexpr Operator kRows[] = {
      {.name = "MelWeightMatrix",
       .traits = {Nature::generator,
                  {.rounding = RoundingClass::continuous, .sizes = {0, 1}, .typed_by = "output_datatype"}},
       .infer = infer_mel,
       .eval = eval_mel},
  };
  return kRows;
}

}  // namespace assay::ops
