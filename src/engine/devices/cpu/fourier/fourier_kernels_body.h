// The loops of fourier_kernels.h; a body of instruction_sets_body.h.

using Doubles [[gnu::vector_size(kBytes)]] = double;
using InMemory [[gnu::vector_size(kBytes), gnu::may_alias, gnu::aligned(8)]] = double;
constexpr int64_t kLines = kBytes / sizeof(double);

// One number of each line.
struct Numbers {
  Doubles real, imaginary;
};

ASSAY_KERNEL inline void read(const double* x, Numbers& out) {
  out.real = *reinterpret_cast<const InMemory*>(x);
  out.imaginary = *reinterpret_cast<const InMemory*>(x + kLines);
}
ASSAY_KERNEL inline void write(const Numbers& x, double* out) {
  *reinterpret_cast<InMemory*>(out) = x.real;
  *reinterpret_cast<InMemory*>(out + kLines) = x.imaginary;
}
ASSAY_KERNEL inline void add(const Numbers& a, const Numbers& b, Numbers& out) {
  out = {a.real + b.real, a.imaginary + b.imaginary};
}
ASSAY_KERNEL inline void subtract(const Numbers& a, const Numbers& b, Numbers& out) {
  out = {a.real - b.real, a.imaginary - b.imaginary};
}
ASSAY_KERNEL inline void multiply(const Numbers& a, const std::complex<double>& root, Numbers& out) {
  const double c = root.real(), s = root.imag();
  out = {a.real * c - a.imaginary * s, a.real * s + a.imaginary * c};
}

// A step, and the distances of its numbers: of one transform from each other, and of those that become one number.
struct Split {
  FourierStep step;
  std::span<const std::complex<double>> roots;
  int64_t apart, parts;

  ASSAY_KERNEL const std::complex<double>& root(int64_t place) const { return roots[static_cast<size_t>(place)]; }
};

ASSAY_KERNEL inline void halve(const Split& split, int64_t part, const double* in, double* out) {
  Numbers a, b, sum, rest;
  read(in, a);
  read(in + split.parts, b);
  add(a, b, sum);
  write(sum, out);
  subtract(a, b, sum);
  multiply(sum, split.root(part * split.step.stride), rest);
  write(rest, out + split.apart);
}

ASSAY_KERNEL inline void quarter(const Split& split, int64_t part, const double* in, double* out) {
  Numbers a, b, c, d, even, odd, across, apart, sum;
  read(in, a);
  read(in + split.parts, b);
  read(in + 2 * split.parts, c);
  read(in + 3 * split.parts, d);
  add(a, c, even);
  add(b, d, odd);
  subtract(a, c, across);
  subtract(b, d, apart);
  // Turned by a quarter, in the direction of the roots.
  const double sign = split.root(split.step.length / 4 * split.step.stride).imag() < 0 ? -1 : 1;
  const Numbers turned = {apart.imaginary * -sign, apart.real * sign};
  add(even, odd, sum);
  write(sum, out);
  const int64_t place = part * split.step.stride;
  add(across, turned, sum);
  multiply(sum, split.root(place), sum);
  write(sum, out + split.apart);
  subtract(even, odd, sum);
  multiply(sum, split.root(2 * place), sum);
  write(sum, out + 2 * split.apart);
  subtract(across, turned, sum);
  multiply(sum, split.root(3 * place), sum);
  write(sum, out + 3 * split.apart);
}

ASSAY_KERNEL inline void divide(const Split& split, int64_t part, const double* in, double* out) {
  const auto [factor, length, stride] = split.step;
  for (int64_t j = 0; j < factor; ++j) {
    Numbers sum, product;
    read(in, sum);
    for (int64_t r = 1; r < factor; ++r) {
      read(in + r * split.parts, product);
      multiply(product, split.root(j * r % factor * (length / factor) * stride), product);
      add(sum, product, sum);
    }
    multiply(sum, split.root(j * part * stride), sum);
    write(sum, out + j * split.apart);
  }
}

ASSAY_KERNEL void run_step(const FourierStep& step, std::span<const std::complex<double>> roots, const double* in,
                           double* out) {
  const int64_t parts = step.length / step.factor, apart = step.stride * 2 * kLines;
  const Split split{step, roots, apart, parts * apart};
  for (int64_t part = 0; part < parts; ++part) {
    const double* const from = in + part * apart;
    double* const to = out + part * step.factor * apart;
    for (int64_t k = 0; k < apart; k += 2 * kLines) {
      if (step.factor == 2)
        halve(split, part, from + k, to + k);
      else if (step.factor == 4)
        quarter(split, part, from + k, to + k);
      else
        divide(split, part, from + k, to + k);
    }
  }
}

constexpr FourierKernels kKernels = {kName, kLines, run_step};
