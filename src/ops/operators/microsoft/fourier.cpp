#include "ops/kernels/elements/fourier.h"

#include "base/parallel.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void check_attributes(const Node& node) {
  if (node.integer("onesided") != 1)
    fail(ErrorCode::shape, "attribute `onesided` is {}, expected 1", node.integer("onesided"));
  if (node.integer("normalized") != 0)
    fail(ErrorCode::shape, "attribute `normalized` is {}, expected 0", node.integer("normalized"));
  if (node.integer("signal_ndim") != 1)
    fail(ErrorCode::unsupported, "signals of {} axes are not supported", node.integer("signal_ndim"));
}

void infer_forward(Infer& node) {
  check_attributes(node);
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  if (dims.empty() || dims.back().is(0)) fail(ErrorCode::shape, "the input has no signal, its shape is {}", text(dims));
  dims.back() = floor_div(dims.back(), 2) + Dim(1);
  dims.emplace_back(2);
  node.set_dims(0, std::move(dims));
}

void eval_forward(Eval& node) {
  const std::vector<double> input = node.load<double>(0);
  const auto length = static_cast<uint64_t>(node.shape(0).back());
  const uint64_t kept = length / 2 + 1;
  const Fourier fourier(length, false);
  std::vector<double> result(node.out_count(0));
  parallel_for(input.size() / length, 1, [&](uint64_t line, uint64_t) {
    const auto from = input.begin() + static_cast<ptrdiff_t>(line * length);
    const std::vector<std::complex<double>> in(from, from + static_cast<ptrdiff_t>(length));
    std::vector<std::complex<double>> out(length);
    fourier.transform(in, out);
    for (uint64_t i = 0; i < kept; ++i) {
      result[(line * kept + i) * 2] = out[i].real();
      result[(line * kept + i) * 2 + 1] = out[i].imag();
    }
  });
  node.store(0, std::move(result));
}

Dim macs_of_forward(const Infer& node) {
  if (!node.is_ranked(0)) return {};
  const Dims& dims = node.dims(0);
  return product(std::span(dims).first(dims.size() - 1)) * fourier_macs(dims.back());
}

void infer_inverse(Infer& node) {
  check_attributes(node);
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  if (dims.size() < 2) fail(ErrorCode::shape, "the input must have a rank of 2 or more, its shape is {}", text(dims));
  unify(dims.back(), 2, "the last dim and 2, real and imaginary part");
  dims.pop_back();
  if (dims.back().is_number() && *dims.back().number() < 2)
    fail(ErrorCode::shape, "a signal is to be made of {} frequencies", dims.back().text());
  dims.back() = (dims.back() - Dim(1)) * Dim(2);
  node.set_dims(0, std::move(dims));
}

Dim macs_of_inverse(const Infer& node) {
  if (!node.is_ranked(0)) return {};
  const Dims& dims = node.dims(0);
  const std::span<const Dim> lines = std::span(dims).first(dims.size() - 2);
  return product(lines) * fourier_macs((dims[dims.size() - 2] - Dim(1)) * Dim(2));
}

// The frequencies left out are the conjugates of the others.
void eval_inverse(Eval& node) {
  const std::vector<double> input = node.load<double>(0);
  const auto length = static_cast<uint64_t>(node.out_shape(0).back());
  const uint64_t kept = length / 2 + 1;
  const Fourier fourier(length, true);
  std::vector<double> result(node.out_count(0));
  parallel_for(result.size() / length, 1, [&](uint64_t line, uint64_t) {
    std::vector<std::complex<double>> in(length);
    std::vector<std::complex<double>> out(length);
    for (uint64_t i = 0; i < kept; ++i) {
      const bool is_real = i == 0 || i + 1 == kept;
      in[i] = {input[(line * kept + i) * 2], is_real ? 0 : input[(line * kept + i) * 2 + 1]};
      if (!is_real) in[length - i] = std::conj(in[i]);
    }
    fourier.transform(in, out);
    for (uint64_t i = 0; i < length; ++i) result[line * length + i] = out[i].real() / static_cast<double>(length);
  });
  node.store(0, std::move(result));
}

}  // namespace

OperatorRows operator_microsoft_fourier() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "Rfft",
       .traits = {Nature::product},
       .infer = infer_forward,
       .eval = eval_forward,
       .macs = macs_of_forward},
      {.domain = kMicrosoft,
       .name = "Irfft",
       .traits = {Nature::product},
       .infer = infer_inverse,
       .eval = eval_inverse,
       .macs = macs_of_inverse},
  };
  return kRows;
}

}  // namespace assay::ops
