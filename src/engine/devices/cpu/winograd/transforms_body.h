// The loops of transforms.h for vectors of kBytes; included by transforms.cpp once for each instruction set, in a
// namespace of its own, with ASSAY_KERNEL saying which.
constexpr size_t kWidth = kBytes / sizeof(float);
using Vector [[gnu::vector_size(kBytes)]] = float;
using Unaligned [[gnu::vector_size(kBytes), gnu::aligned(4), gnu::may_alias]] = float;

// Six numbers of a line into six terms, at every `step`.
ASSAY_KERNEL inline void line_in(const Vector* d, Vector* t, size_t step) {
  const Vector even_a = d[4 * step] - kSquareB * d[2 * step];
  const Vector odd_a = kPointA * (d[3 * step] - kSquareB * d[step]);
  const Vector even_b = d[4 * step] - kSquareA * d[2 * step];
  const Vector odd_b = kPointB * (d[3 * step] - kSquareA * d[step]);
  t[0] = d[0] - kSquares * d[2 * step] + d[4 * step];
  t[step] = even_a + odd_a;
  t[2 * step] = even_a - odd_a;
  t[3 * step] = even_b + odd_b;
  t[4 * step] = even_b - odd_b;
  t[5 * step] = d[step] - kSquares * d[3 * step] + d[5 * step];
}

// Six terms of a line into four numbers.
ASSAY_KERNEL inline void line_out(const Vector* t, size_t step, Vector* y, size_t out_step) {
  const Vector sum_a = t[step] + t[2 * step];
  const Vector difference_a = t[step] - t[2 * step];
  const Vector sum_b = t[3 * step] + t[4 * step];
  const Vector difference_b = t[3 * step] - t[4 * step];
  y[0] = t[0] + sum_a + sum_b;
  y[out_step] = kPointA * difference_a + kPointB * difference_b;
  y[2 * out_step] = kSquareA * sum_a + kSquareB * sum_b;
  y[3 * out_step] = kPointA * kSquareA * difference_a + kPointB * kSquareB * difference_b + t[5 * step];
}

ASSAY_KERNEL void in(const WinogradInPixels& pixels, float* terms, size_t stride, size_t channels) {
  Vector d[kWinogradTerms];
  Vector t[kWinogradTerms];
  for (size_t c = 0; c < channels; c += kWidth) {
    for (size_t i = 0; i < kWinogradTerms; ++i) d[i] = *reinterpret_cast<const Unaligned*>(pixels[i] + c);
    for (size_t x = 0; x < kWinogradIn; ++x) line_in(d + x, t + x, kWinogradIn);
    for (size_t y = 0; y < kWinogradIn; ++y) line_in(t + y * kWinogradIn, d + y * kWinogradIn, 1);
    for (size_t i = 0; i < kWinogradTerms; ++i) *reinterpret_cast<Unaligned*>(terms + i * stride + c) = d[i];
  }
}

ASSAY_KERNEL void out(const float* terms, size_t stride, const float* bias, const WinogradOutPixels& pixels,
                      size_t channels) {
  Vector t[kWinogradTerms];
  Vector lines[kWinogradOut * kWinogradIn];
  Vector y[kWinogradOut * kWinogradOut];
  for (size_t c = 0; c < channels; c += kWidth) {
    for (size_t i = 0; i < kWinogradTerms; ++i) t[i] = *reinterpret_cast<const Unaligned*>(terms + i * stride + c);
    for (size_t x = 0; x < kWinogradIn; ++x) line_out(t + x, kWinogradIn, lines + x, kWinogradIn);
    for (size_t row = 0; row < kWinogradOut; ++row) {
      line_out(lines + row * kWinogradIn, 1, y + row * kWinogradOut, 1);
    }
    Vector shift = {};
    if (bias != nullptr) shift = *reinterpret_cast<const Unaligned*>(bias + c);
    for (size_t i = 0; i < pixels.size(); ++i) {
      if (pixels[i] != nullptr) *reinterpret_cast<Unaligned*>(pixels[i] + c) = y[i] + shift;
    }
  }
}
