#include <complex>

#include "base/parallel.h"
#include "ops/kernels/elements/fourier.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

using Complex = std::complex<double>;

struct Mode {
  bool inverse;
  bool onesided;
  bool is_rfft() const { return onesided && !inverse; }
  bool is_irfft() const { return onesided && inverse; }
};

Mode mode_of(const Node& node) { return {node.flag("inverse"), node.flag("onesided")}; }

int64_t checked_axis(int64_t axis, int64_t rank) {
  axis = normalize_axis(axis, rank);
  if (axis == rank - 1) fail(ErrorCode::shape, "axis {} holds the parts of complex numbers", axis);
  return axis;
}

// Before version 20 the axis is an attribute. Empty: not known.
std::optional<int64_t> axis_of(const Infer& node) {
  if (node.version() < 20) return node.integer("axis");
  return node.has(2) ? node.integer_of(2) : std::optional<int64_t>(-2);
}

// The length of the transform.
Dim length_of(const Infer& node, const Dim& dim) {
  if (!node.has(1)) return mode_of(node).is_irfft() ? (dim - Dim(1)) * Dim(2) : dim;
  const std::optional<int64_t> length = node.integer_of(1);
  return length ? Dim(*length) : Dim();
}

void check_parts(const Infer& node, const Dim& parts) {
  const Mode mode = mode_of(node);
  if (!parts.is_number()) return;
  if (!parts.is(1) && !parts.is(2)) fail(ErrorCode::shape, "the last dim must be 1 or 2, it is {}", parts.text());
  if (mode.is_rfft() && parts.is(2)) fail(ErrorCode::shape, "a one-sided transform takes real numbers");
  if (mode.is_irfft() && parts.is(1)) fail(ErrorCode::shape, "a one-sided inverse takes complex numbers");
}

void infer_dft(Infer& node) {
  if (!node.is_ranked(0)) return;
  if (node.rank(0) < 2) fail(ErrorCode::shape, "the rank must be at least 2, the shape is {}", text(node.dims(0)));
  const Mode mode = mode_of(node);
  Dims dims = node.dims(0);
  check_parts(node, dims.back());
  dims.back() = mode.is_irfft() ? 1 : 2;
  const std::optional<int64_t> axis = axis_of(node);
  if (!axis) {
    for (size_t i = 0; i + 1 < dims.size(); ++i) dims[i] = Dim();
    return node.set_dims(0, std::move(dims));
  }
  Dim& dim = dims[static_cast<size_t>(checked_axis(*axis, node.rank(0)))];
  const Dim length = length_of(node, dim);
  if (length.is_number() && *length.number() < 1)
    fail(ErrorCode::shape, "the length must be positive, it is {}", length.text());
  dim = mode.is_rfft() ? floor_div(length, 2) + Dim(1) : length;
  node.set_dims(0, std::move(dims));
}

Dim macs_of_dft(const Infer& node) {
  const std::optional<int64_t> axis = node.is_ranked(0) ? axis_of(node) : std::nullopt;
  if (!axis) return {};
  const auto at = static_cast<size_t>(checked_axis(*axis, node.rank(0)));
  Dim lines = 1;
  for (size_t i = 0; i + 1 < node.dims(0).size(); ++i) lines = i == at ? lines : lines * node.dims(0)[i];
  return lines * fourier_macs(length_of(node, node.dims(0)[at]));
}

// One line of the input: cut or filled with zeros, and for the one-sided inverse with its mirror image.
void read_line(const std::vector<double>& data, const AxisView& view, uint64_t parts, uint64_t line, bool mirrors,
               std::span<Complex> out) {
  const uint64_t o = line / view.inner;
  const uint64_t i = line % view.inner;
  const uint64_t given = std::min<uint64_t>(view.length, mirrors ? out.size() / 2 + 1 : out.size());
  std::fill(out.begin(), out.end(), Complex());
  for (uint64_t k = 0; k < given; ++k) {
    const uint64_t place = view.place(o, k, i) * parts;
    out[k] = {data[place], parts == 2 ? data[place + 1] : 0};
  }
  if (!mirrors) return;
  for (uint64_t k = out.size() / 2 + 1; k < out.size(); ++k) out[k] = std::conj(out[out.size() - k]);
  out[0].imag(0);
  if (out.size() % 2 == 0) out[out.size() / 2].imag(0);
}

AxisView view_lines(Shape shape, int64_t axis) {
  shape.pop_back();
  return view_axis(shape, axis);
}

void eval_dft(Eval& node) {
  const Mode mode = mode_of(node);
  const int64_t written = node.version() < 20 ? node.integer("axis") : node.scalar<int64_t>(2, -2);
  const int64_t axis = normalize_axis(written, node.rank(0));
  const AxisView from = view_lines(node.shape(0), axis);
  const AxisView to = view_lines(node.out_shape(0), axis);
  const uint64_t otherwise = mode.is_irfft() ? 2 * (from.length - 1) : from.length;
  const Fourier fourier(node.scalar<uint64_t>(1, otherwise), mode.inverse);
  const double scale = mode.inverse ? static_cast<double>(fourier.length()) : 1;
  const auto parts = static_cast<uint64_t>(node.shape(0).back());
  const auto out_parts = static_cast<uint64_t>(node.out_shape(0).back());
  const std::vector<double> data = node.load<double>(0);
  std::vector<double> result(node.out_count(0));
  parallel_for(to.outer * to.inner, 1, [&](uint64_t begin, uint64_t end) {
    std::vector<Complex> in(fourier.length());
    std::vector<Complex> out(fourier.length());
    for (uint64_t line = begin; line < end; ++line) {
      read_line(data, from, parts, line, mode.is_irfft(), in);
      fourier.transform(in, out);
      for (uint64_t k = 0; k < to.length; ++k) {
        const uint64_t place = to.place(line / to.inner, k, line % to.inner) * out_parts;
        result[place] = out[k].real() / scale;
        if (out_parts == 2) result[place + 1] = out[k].imag() / scale;
      }
    }
  });
  node.store(0, std::move(result));
}

}  // namespace

OperatorRows operator_signal_dft() {
  static constexpr Operator kRows[] = {
      {.name = "DFT",
       .traits = {Nature::product, {.sizes = {1}}},
       .infer = infer_dft,
       .eval = eval_dft,
       .macs = macs_of_dft},
  };
  return kRows;
}

}  // namespace assay::ops
