// The loops of transforms.h; included by transforms.cpp once for each instruction set, in a namespace of its own, with
// ASSAY_KERNEL saying which, after vector_math_body.h and the numbers: Element, read and write.

// Every second number from `d` on times the coefficients of a product of squares.
template <typename Line, size_t kDegree, size_t kLeftOut>
ASSAY_KERNEL [[gnu::always_inline]] inline void combine(const Vector* d, Vector& sum) {
  static constexpr auto kCoefficients = Line::template squares_without<kDegree>(kLeftOut);
  sum = d[2 * Line::kStride * kDegree];
#pragma GCC unroll 4
  for (size_t k = 0; k < kDegree; ++k) sum += static_cast<float>(kCoefficients[k]) * d[2 * Line::kStride * k];
}

template <typename Line, size_t kPoint>
ASSAY_KERNEL [[gnu::always_inline]] inline void points_in(const Vector* d, Vector* t, size_t step) {
  constexpr size_t kCount = Line::kPoints.size();
  if constexpr (kPoint < kCount) {
    constexpr auto kAt = static_cast<float>(Line::kPoints[kPoint]);
    Vector lower, upper;
    combine<Line, kCount - 1, kPoint>(d + Line::kStride * Line::kZeros, lower);
    combine<Line, kCount - 1, kPoint>(d + Line::kStride * (Line::kZeros + 1), upper);
    t[(Line::kZeros + 2 * kPoint) * step] = upper + kAt * lower;
    t[(Line::kZeros + 2 * kPoint + 1) * step] = upper - kAt * lower;
    points_in<Line, kPoint + 1>(d, t, step);
  }
}

// A line of numbers into terms, which are put at every `step`.
template <typename Line>
ASSAY_KERNEL [[gnu::always_inline]] inline void line_in(const Vector* d, Vector* t, size_t step) {
  constexpr size_t kCount = Line::kPoints.size();
  if constexpr (Line::kZeros > 0) combine<Line, kCount, kCount>(d, t[0]);
  points_in<Line, 0>(d, t, step);
  combine<Line, kCount, kCount>(d + Line::kStride * Line::kZeros, t[(Line::kPointTerms - 1) * step]);
#pragma GCC unroll 16
  for (size_t i = Line::kPointTerms; i < Line::kSide; ++i) t[i * step] = d[2 * (i - Line::kPointTerms) + 1];
}

template <typename Line, size_t kPoint>
ASSAY_KERNEL [[gnu::always_inline]] inline void points_out(const Vector* t, Vector* y) {
  if constexpr (kPoint < Line::kPoints.size()) {
    const Vector& plus = t[Line::kZeros + 2 * kPoint];
    const Vector& minus = t[Line::kZeros + 2 * kPoint + 1];
    const Vector even = plus + minus;
    const Vector odd = plus - minus;
    double power = 1;
#pragma GCC unroll 8
    for (size_t i = 0; i < Line::kOut; ++i, power *= Line::kPoints[kPoint]) {
      const Vector part = static_cast<float>(power) * (i % 2 == 0 ? even : odd);
      y[i] = kPoint == 0 ? part : y[i] + part;
    }
    points_out<Line, kPoint + 1>(t, y);
  }
}

// A line of terms into numbers.
template <typename Line>
ASSAY_KERNEL [[gnu::always_inline]] inline void line_out(const Vector* t, Vector* y) {
  points_out<Line, 0>(t, y);
  if constexpr (Line::kZeros > 0) y[0] += t[0];
  y[Line::kOut - 1] += t[Line::kPointTerms - 1];
  if constexpr (Line::kStride == 2) {
#pragma GCC unroll 8
    for (size_t i = 0; i < Line::kOut; ++i) y[i] += t[Line::kPointTerms + i];
  }
}

template <typename Line>
ASSAY_KERNEL void in(const Element* const* pixels, Element* terms, size_t stride, size_t channels) {
  constexpr size_t kSide = Line::kSide;
  Vector line[kSide];
  Vector lines[kSide * kSide];
  for (size_t c = 0; c < channels; c += kWidth) {
    for (size_t x = 0; x < kSide; ++x) {
#pragma GCC unroll 16
      for (size_t y = 0; y < kSide; ++y) read(pixels[y * kSide + x] + c, line[y]);
      line_in<Line>(line, lines + x, kSide);
    }
    for (size_t y = 0; y < kSide; ++y) {
      line_in<Line>(lines + y * kSide, line, 1);
#pragma GCC unroll 16
      for (size_t x = 0; x < kSide; ++x) write(line[x], terms + (y * kSide + x) * stride + c);
    }
  }
}

template <typename Line>
ASSAY_KERNEL void out(const float* terms, size_t stride, const float* bias, Element* const* pixels, size_t channels) {
  constexpr size_t kSide = Line::kSide;
  constexpr size_t kOut = Line::kOut;
  Vector line[kSide];
  Vector lines[kOut * kSide];
  Vector made[kOut];
  for (size_t c = 0; c < channels; c += kWidth) {
    for (size_t x = 0; x < kSide; ++x) {
#pragma GCC unroll 16
      for (size_t y = 0; y < kSide; ++y) line[y] = at(terms + (y * kSide + x) * stride + c).lanes;
      line_out<Line>(line, made);
#pragma GCC unroll 8
      for (size_t y = 0; y < kOut; ++y) lines[y * kSide + x] = made[y];
    }
    Vector shift = {};
    if (bias != nullptr) shift = at(bias + c).lanes;
    for (size_t y = 0; y < kOut; ++y) {
      line_out<Line>(lines + y * kSide, made);
#pragma GCC unroll 8
      for (size_t x = 0; x < kOut; ++x) {
        Element* const pixel = pixels[y * kOut + x];
        if (pixel != nullptr) write(made[x] + shift, pixel + c);
      }
    }
  }
}

template <typename... Lines>
constexpr WinogradLoopsOfForms<Element> loops_of(const std::tuple<Lines...>*) {
  return {WinogradLoopsOf<Element>{in<Lines>, out<Lines>}...};
}
constexpr auto kLoops = loops_of(static_cast<const WinogradLines*>(nullptr));
