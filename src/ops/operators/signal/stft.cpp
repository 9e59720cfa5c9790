#include <complex>

#include "base/parallel.h"
#include "ops/kernels/elements/fourier.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

using Complex = std::complex<double>;

// A signal without a last dim is real, as runtimes take it; the standard has 1 or 2 there.
void check_signal(const Infer& node) {
  if (!node.is_ranked(0) || node.dims(0).size() != 2) node.require_rank(0, 3);
  node.require_rank(2, 1);
  for (const uint32_t scalar : {1U, 3U}) {
    if (node.is_ranked(scalar) && product(node.dims(scalar)).is_number() && !product(node.dims(scalar)).is(1)) {
      fail(ErrorCode::shape, "input {} must be a scalar, its shape is {}", scalar, text(node.dims(scalar)));
    }
  }
  if (!node.is_ranked(0) || node.dims(0).size() == 2) return;
  const Dim& parts = node.dims(0)[2];
  if (parts.is_number() && !parts.is(1) && !parts.is(2)) {
    fail(ErrorCode::shape, "the last dim must be 1 or 2, it is {}", parts.text());
  }
  if (parts.is(2) && node.flag("onesided")) fail(ErrorCode::shape, "a one-sided transform takes real numbers");
}

// By `frame_length`, else the window, else the signal; Error where the first two differ.
Dim frame_length(const Infer& node) {
  const std::optional<int64_t> written = node.integer_of(3);
  const Dim window = node.is_ranked(2) ? node.dims(2)[0] : Dim();
  if (node.has(3)) {
    const Dim length = written ? Dim(*written) : Dim();
    return node.has(2) ? unify(length, window, "frame length and window") : length;
  }
  if (node.has(2)) return window;
  return node.is_ranked(0) ? node.dims(0)[1] : Dim();
}

Dim frame_count(const Infer& node, const Dim& length) {
  const std::optional<int64_t> step = node.integer_of(1);
  if (step && *step < 1) fail(ErrorCode::shape, "the step between frames must be positive, it is {}", *step);
  if (length.is_number() && *length.number() < 1) {
    fail(ErrorCode::shape, "the frame length must be positive, it is {}", length.text());
  }
  if (!node.is_ranked(0)) return {};
  const Dim rest = node.dims(0)[1] - length;
  if (rest.is_number() && *rest.number() < 0) {
    fail(ErrorCode::shape, "frames of length {} do not fit a signal of length {}", length.text(),
         node.dims(0)[1].text());
  }
  return step && !rest.is_unknown() ? floor_div(rest, *step) + Dim(1) : Dim();
}

void infer_stft(Infer& node) {
  check_signal(node);
  const Dim length = frame_length(node);
  const Dim frames = frame_count(node, length);
  const Dim bins = node.flag("onesided") ? floor_div(length, 2) + Dim(1) : length;
  node.set_dims(0, {node.is_ranked(0) ? node.dims(0)[0] : Dim(), frames, bins, 2});
}

Dim macs_of_stft(const Infer& node) {
  if (!node.is_ranked(0)) return {};
  const Dim length = frame_length(node);
  return node.dims(0)[0] * frame_count(node, length) * fourier_macs(length);
}

uint64_t frame_length(const Eval& node) {
  if (node.has(3)) return node.scalar<uint64_t>(3, 0);
  return node.has(2) ? node.count(2) : static_cast<uint64_t>(node.shape(0)[1]);
}

void eval_stft(Eval& node) {
  const Shape shape = node.out_shape(0);
  const auto frames = static_cast<uint64_t>(shape[1]);
  const auto bins = static_cast<uint64_t>(shape[2]);
  const auto signal_length = static_cast<uint64_t>(node.shape(0)[1]);
  const auto parts = node.shape(0).size() == 2 ? uint64_t{1} : static_cast<uint64_t>(node.shape(0)[2]);
  const auto step = node.scalar<uint64_t>(1, 1);
  const Fourier fourier(frame_length(node), false);
  const std::vector<double> signal = node.load<double>(0);
  const std::vector<double> window = node.has(2) ? node.load<double>(2) : std::vector<double>(fourier.length(), 1);
  std::vector<double> result(node.out_count(0));
  parallel_for(static_cast<uint64_t>(shape[0]) * frames, 1, [&](uint64_t begin, uint64_t end) {
    std::vector<Complex> in(fourier.length());
    std::vector<Complex> out(fourier.length());
    for (uint64_t frame = begin; frame < end; ++frame) {
      const uint64_t start = frame / frames * signal_length + frame % frames * step;
      for (uint64_t k = 0; k < in.size(); ++k) {
        const uint64_t place = (start + k) * parts;
        in[k] = Complex(signal[place], parts == 2 ? signal[place + 1] : 0) * window[k];
      }
      fourier.transform(in, out);
      for (uint64_t k = 0; k < bins; ++k) {
        result[(frame * bins + k) * 2] = out[k].real();
        result[(frame * bins + k) * 2 + 1] = out[k].imag();
      }
    }
  });
  node.store(0, std::move(result));
}

}  // namespace

OperatorRows operator_signal_stft() {
  static constexpr Operator kRows[] = {
      {.name = "STFT",
       .traits = {Nature::product, {.sizes = {1}}},
       .infer = infer_stft,
       .eval = eval_stft,
       .macs = macs_of_stft},
  };
  return kRows;
}

}  // namespace assay::ops
