// The kernels of tile_kernels.h for vectors of kBytes; included by tile_kernels.cpp once for each instruction set, in a
// namespace of its own, with ASSAY_KERNEL saying which. (Neither a template argument nor inlining brings an instruction
// set to vectors of its width.) A product and the sum that takes it round one after the other.

using Vector [[gnu::vector_size(kBytes), gnu::may_alias]] = double;
using Mask [[gnu::vector_size(kBytes), gnu::may_alias]] = int64_t;
constexpr uint64_t kWidth = kBytes / sizeof(double);
constexpr uint64_t kVectors = kLanes / kWidth;

ASSAY_KERNEL inline void load(const double* from, Vector& to) { to = *reinterpret_cast<const Vector*>(from); }
ASSAY_KERNEL inline void clear_sign(Vector& x) {
  x = reinterpret_cast<Vector>(reinterpret_cast<Mask>(x) & std::numeric_limits<int64_t>::max());
}

ASSAY_KERNEL inline double sum_of(const Vector (&lanes)[kVectors]) {
  double x[kLanes];
  memcpy(x, lanes, sizeof x);
  return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

template <typename Element>
ASSAY_KERNEL inline void widen_vector(const Element* from, Vector& to) {
  using Unaligned [[gnu::vector_size(kBytes), gnu::may_alias, gnu::aligned(1)]] = double;
  __builtin_prefetch(from + 4 * kTile);
  if constexpr (std::is_same_v<Element, float>)
    to = reinterpret_cast<Vector>(widened(from));
  else
    to = *reinterpret_cast<const Unaligned*>(from);
}

ASSAY_KERNEL void widen(const float* from, double* to) {
  for (uint64_t i = 0; i < kTile; i += kWidth) widen_vector(from + i, *reinterpret_cast<Vector*>(to + i));
}

struct LaneSums {
  Vector sum[kVectors] = {};
  Vector squares[kVectors] = {};
  Vector magnitude[kVectors] = {};
  Vector least[kVectors];
  Vector greatest[kVectors];
  double shift;
};

ASSAY_KERNEL inline void start(double shift, LaneSums& sums) {
  sums.shift = shift;
  for (uint64_t v = 0; v < kVectors; ++v) sums.least[v] = sums.greatest[v] = Vector{} + shift;
}

template <bool kMagnitude>
ASSAY_KERNEL [[gnu::always_inline]] inline void add(const Vector& in, uint64_t v, LaneSums& sums) {
  sums.least[v] = in < sums.least[v] ? in : sums.least[v];
  sums.greatest[v] = in > sums.greatest[v] ? in : sums.greatest[v];
  const Vector shifted = in - sums.shift;
  sums.sum[v] += shifted;
  const Vector square = shifted * shifted;
  sums.squares[v] += square;
  if constexpr (kMagnitude) {
    Vector magnitude = in;
    clear_sign(magnitude);
    sums.magnitude[v] += magnitude;
  }
}

ASSAY_KERNEL inline TileSums finish(const LaneSums& lanes) {
  double low[kLanes], high[kLanes];
  memcpy(low, lanes.least, sizeof low);
  memcpy(high, lanes.greatest, sizeof high);
  return {lanes.shift,
          sum_of(lanes.sum),
          sum_of(lanes.squares),
          sum_of(lanes.magnitude),
          *std::min_element(low, low + kLanes),
          *std::max_element(high, high + kLanes)};
}

template <bool kMagnitude>
ASSAY_KERNEL void summarize_as(const double* x, TileSums& sums) {
  LaneSums lanes;
  start(x[0], lanes);
  for (uint64_t i = 0; i < kTile; i += kLanes) {
#pragma GCC unroll 4
    for (uint64_t v = 0; v < kVectors; ++v) {
      Vector in;
      load(x + i + v * kWidth, in);
      add<kMagnitude>(in, v, lanes);
    }
  }
  sums = finish(lanes);
}

ASSAY_KERNEL void summarize(const double* x, bool with_magnitude, TileSums& sums) {
  return with_magnitude ? summarize_as<true>(x, sums) : summarize_as<false>(x, sums);
}

ASSAY_KERNEL inline void subtract_vector(const Vector& a, const Vector& b, Vector& difference) {
  difference = a - b;
  clear_sign(difference);
}

ASSAY_KERNEL void subtract(const double* a, const double* b, double* difference) {
  for (uint64_t i = 0; i < kTile; i += kWidth) {
    Vector x, y;
    load(a + i, x);
    load(b + i, y);
    subtract_vector(x, y, *reinterpret_cast<Vector*>(difference + i));
  }
}

ASSAY_KERNEL inline void divide_vector(const Vector& difference, Vector b, double zero_reference, Vector& ratio) {
  clear_sign(b);
  b = b == 0 ? Vector{} + zero_reference : b;
  ratio = difference == 0 ? Vector{} : difference / b;
}

ASSAY_KERNEL inline void count_passed(const Vector& difference, const Vector& ratio, const Bounds& bounds,
                                      Mask& passed) {
  passed += (difference <= bounds.atol) | (ratio <= bounds.rtol);
}

ASSAY_KERNEL inline TileRelation finish(const Mask& passed, const Vector (&dot)[kVectors]) {
  uint64_t failed = kTile;
  for (uint64_t lane = 0; lane < kWidth; ++lane) failed += static_cast<uint64_t>(passed[lane]);
  return {failed, sum_of(dot)};
}

ASSAY_KERNEL TileRelation relate(const double* const (&abd)[3], const Bounds& bounds, double* relative) {
  Vector dot[kVectors] = {};
  Mask passed = {};
  for (uint64_t i = 0; i < kTile; i += kLanes) {
#pragma GCC unroll 4
    for (uint64_t v = 0; v < kVectors; ++v) {
      const uint64_t at = i + v * kWidth;
      Vector a, b, difference, ratio;
      load(abd[0] + at, a);
      load(abd[1] + at, b);
      load(abd[2] + at, difference);
      const Vector product = a * b;
      dot[v] += product;
      divide_vector(difference, b, bounds.zero_reference, ratio);
      *reinterpret_cast<Vector*>(relative + at) = ratio;
      count_passed(difference, ratio, bounds, passed);
    }
  }
  return finish(passed, dot);
}

ASSAY_KERNEL inline void narrow_vector(const Vector& from, float* to) {
  using Floats [[gnu::vector_size(kWidth * sizeof(float)), gnu::may_alias, gnu::aligned(4)]] = float;
  *reinterpret_cast<Floats*>(to) = __builtin_convertvector(from, Floats);
}

// Numbers too small for float32 stay distinct from 0.
ASSAY_KERNEL inline void narrow_apart(Vector x, float* to) {
  constexpr double kLeast = std::numeric_limits<float>::denorm_min();
  x = ((x > 0) & (x < kLeast)) ? Vector{} + kLeast : x;
  x = ((x < 0) & (x > -kLeast)) ? Vector{} - kLeast : x;
  narrow_vector(x, to);
}

ASSAY_KERNEL void narrow(const double* from, float* to) {
  for (uint64_t i = 0; i < kTile; i += kWidth) {
    Vector x;
    load(from + i, x);
    narrow_apart(x, to + i);
  }
}

struct NoCodes {};
using PairCodes = float* const (&)[2];

template <typename Element, typename Codes>
ASSAY_KERNEL [[gnu::always_inline]] inline void survey_with(const Element* a, const Element* b, const Bounds& bounds,
                                                            PairSums& sums, Codes codes) {
  LaneSums lanes[4];
  Vector dot[kVectors] = {};
  Mask passed = {};
  for (uint64_t i = 0; i < kTile; i += kLanes) {
#pragma GCC unroll 4
    for (uint64_t v = 0; v < kVectors; ++v) {
      Vector x, y, difference, ratio;
      widen_vector(a + i + v * kWidth, x);
      widen_vector(b + i + v * kWidth, y);
      subtract_vector(x, y, difference);
      divide_vector(difference, y, bounds.zero_reference, ratio);
      if (i == 0 && v == 0) {
        start(x[0], lanes[0]);
        start(y[0], lanes[1]);
        start(difference[0], lanes[2]);
        start(ratio[0], lanes[3]);
      }
      add<true>(x, v, lanes[0]);
      add<true>(y, v, lanes[1]);
      add<false>(difference, v, lanes[2]);
      add<false>(ratio, v, lanes[3]);
      const Vector product = x * y;
      dot[v] += product;
      count_passed(difference, ratio, bounds, passed);
      if constexpr (!std::is_same_v<Codes, NoCodes>) {
        narrow_vector(difference, codes[0] + i + v * kWidth);
        const Vector least = difference == 0 ? Vector{} : Vector{} + std::numeric_limits<float>::denorm_min();
        narrow_vector(ratio > least ? ratio : least, codes[1] + i + v * kWidth);
      }
    }
  }
  for (uint64_t s = 0; s < 4; ++s) sums.series[s] = finish(lanes[s]);
  sums.relation = finish(passed, dot);
}

ASSAY_KERNEL void survey32(const float* a, const float* b, const Bounds& bounds, PairSums& sums) {
  survey_with(a, b, bounds, sums, NoCodes());
}
ASSAY_KERNEL void survey_codes(const float* a, const float* b, const Bounds& bounds, PairSums& sums, PairCodes codes) {
  survey_with<float, PairCodes>(a, b, bounds, sums, codes);
}
ASSAY_KERNEL void survey64(const double* a, const double* b, const Bounds& bounds, PairSums& sums) {
  survey_with(a, b, bounds, sums, NoCodes());
}

// A word of the elements of 64 that are not above the bound. Words are put together in registers: to store their parts
// and load the whole would wait.
template <typename Element>
ASSAY_KERNEL [[gnu::always_inline]] inline uint64_t word_not_above(const Element* x, Element bound) {
  constexpr uint64_t kBits = 8 * sizeof(bits_not_above(x, bound));
  uint64_t word = 0;
#pragma GCC unroll 8
  for (uint64_t i = 0; i < 64; i += kBits) word |= uint64_t{bits_not_above(x + i, bound)} << i;
  return word;
}

ASSAY_KERNEL BracketCount sieve(const double* x, const Bracket& bracket, TileBits& inside) {
  BracketCount count;
  for (uint64_t w = 0; w < kTile / 64; ++w) {
    uint64_t below = 0;
#pragma GCC unroll 8
    for (uint64_t i = 0; i < 64; i += 8) below |= uint64_t{bits_below(x + 64 * w + i, bracket.low)} << i;
    inside[w] = word_not_above(x + 64 * w, bracket.high) & ~below;
    count.below += static_cast<uint64_t>(std::popcount(below));
    count.inside += static_cast<uint64_t>(std::popcount(inside[w]));
  }
  return count;
}

ASSAY_KERNEL void count_from(const double* x, const InnerEdges& edges, EdgeCounts& counts) {
  Mask from[kInnerEdges] = {};
  for (uint64_t i = 0; i < kTile; i += kWidth) {
    Vector in;
    load(x + i, in);
#pragma GCC unroll 9
    for (uint64_t e = 0; e < kInnerEdges; ++e) from[e] -= in >= edges[e];
  }
  for (uint64_t e = 0; e < kInnerEdges; ++e) {
    counts[e] = 0;
    for (uint64_t lane = 0; lane < kWidth; ++lane) counts[e] += static_cast<uint64_t>(from[e][lane]);
  }
}

template <typename Code, typename Signed>
ASSAY_KERNEL uint64_t ulp_of(const Code* a, const Code* b) {
  using Codes [[gnu::vector_size(kBytes), gnu::may_alias, gnu::aligned(1)]] = Code;
  using Keys [[gnu::vector_size(kBytes), gnu::may_alias]] = Signed;
  constexpr uint64_t kCodes = kBytes / sizeof(Code);
  constexpr Code kSign = Code{1} << (8 * sizeof(Code) - 1);
  Codes most = {};
  for (uint64_t i = 0; i < kTile; i += kCodes) {
    Codes x = *reinterpret_cast<const Codes*>(a + i);
    Codes y = *reinterpret_cast<const Codes*>(b + i);
    x = reinterpret_cast<Keys>(x) < 0 ? kSign - x : x;
    y = reinterpret_cast<Keys>(y) < 0 ? kSign - y : y;
    const Codes distance = reinterpret_cast<Keys>(x) > reinterpret_cast<Keys>(y) ? x - y : y - x;
    most = distance > most ? distance : most;
  }
  uint64_t greatest = 0;
  for (uint64_t lane = 0; lane < kCodes; ++lane) greatest = std::max<uint64_t>(greatest, most[lane]);
  return greatest;
}

ASSAY_KERNEL uint64_t ulp64(const uint64_t* a, const uint64_t* b) { return ulp_of<uint64_t, int64_t>(a, b); }
ASSAY_KERNEL uint64_t ulp32(const uint32_t* a, const uint32_t* b) { return ulp_of<uint32_t, int32_t>(a, b); }
ASSAY_KERNEL uint64_t ulp16(const uint16_t* a, const uint16_t* b) { return ulp_of<uint16_t, int16_t>(a, b); }
