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

ASSAY_KERNEL void widen(const float* from, double* to) {
  using Floats [[gnu::vector_size(kBytes / 2), gnu::may_alias, gnu::aligned(1)]] = float;
  for (uint64_t i = 0; i < kTile; i += kWidth) {
    __builtin_prefetch(from + i + 4 * kTile);
    *reinterpret_cast<Vector*>(to + i) = __builtin_convertvector(*reinterpret_cast<const Floats*>(from + i), Vector);
  }
}

template <bool kMagnitude>
ASSAY_KERNEL void summarize_as(const double* x, TileSums& sums) {
  Vector sum[kVectors] = {}, squares[kVectors] = {}, magnitude[kVectors] = {}, least[kVectors], greatest[kVectors];
  for (uint64_t v = 0; v < kVectors; ++v) {
    load(x + v * kWidth, least[v]);
    greatest[v] = least[v];
  }
  const double shift = x[0];
  for (uint64_t i = 0; i < kTile; i += kLanes) {
#pragma GCC unroll 4
    for (uint64_t v = 0; v < kVectors; ++v) {
      Vector in;
      load(x + i + v * kWidth, in);
      least[v] = in < least[v] ? in : least[v];
      greatest[v] = in > greatest[v] ? in : greatest[v];
      const Vector shifted = in - shift;
      sum[v] += shifted;
      const Vector square = shifted * shifted;
      squares[v] += square;
      if constexpr (kMagnitude) {
        clear_sign(in);
        magnitude[v] += in;
      }
    }
  }
  sums = {shift, sum_of(sum), sum_of(squares), sum_of(magnitude), 0, 0};
  double low[kLanes], high[kLanes];
  memcpy(low, least, sizeof low);
  memcpy(high, greatest, sizeof high);
  sums.least = *std::min_element(low, low + kLanes);
  sums.greatest = *std::max_element(high, high + kLanes);
}

ASSAY_KERNEL void summarize(const double* x, bool with_magnitude, TileSums& sums) {
  return with_magnitude ? summarize_as<true>(x, sums) : summarize_as<false>(x, sums);
}

ASSAY_KERNEL void subtract(const double* a, const double* b, double* difference) {
  for (uint64_t i = 0; i < kTile; i += kWidth) {
    Vector x, y;
    load(a + i, x);
    load(b + i, y);
    x = x - y;
    clear_sign(x);
    *reinterpret_cast<Vector*>(difference + i) = x;
  }
}

ASSAY_KERNEL TileRelation relate(const double* const (&abd)[3], const Bounds& bounds, double* relative) {
  Vector dot[kVectors] = {};
  Mask failed = {};
  for (uint64_t i = 0; i < kTile; i += kLanes) {
#pragma GCC unroll 4
    for (uint64_t v = 0; v < kVectors; ++v) {
      const uint64_t at = i + v * kWidth;
      Vector a, b, difference;
      load(abd[0] + at, a);
      load(abd[1] + at, b);
      load(abd[2] + at, difference);
      const Vector product = a * b;
      dot[v] += product;
      clear_sign(b);
      b = b == 0 ? Vector{} + bounds.zero_reference : b;
      const Vector ratio = difference == 0 ? Vector{} : difference / b;
      *reinterpret_cast<Vector*>(relative + at) = ratio;
      failed += ~(difference <= bounds.atol) & ~(ratio <= bounds.rtol);
    }
  }
  uint64_t count = 0;
  for (uint64_t lane = 0; lane < kWidth; ++lane) count -= static_cast<uint64_t>(failed[lane]);
  return {count, sum_of(dot)};
}

ASSAY_KERNEL void sieve(const double* x, const Brackets& brackets, BracketCounts& counts, int64_t* marks) {
  Mask below[kBrackets] = {}, not_above[kBrackets] = {}, wide[kBrackets];
  for (uint64_t b = 0; b < kBrackets; ++b) wide[b] = Mask{} - (brackets[b].low < brackets[b].high ? 1 : 0);
  for (uint64_t i = 0; i < kTile; i += kWidth) {
    Vector in;
    load(x + i, in);
    Mask& mark = *reinterpret_cast<Mask*>(marks + i);
    Mask inside = mark;
#pragma GCC unroll 4
    for (uint64_t b = 0; b < kBrackets; ++b) {
      const Mask is_below = in < brackets[b].low;
      const Mask is_not_above = in <= brackets[b].high;
      below[b] -= is_below;
      not_above[b] -= is_not_above;
      inside |= is_not_above & ~is_below & wide[b];
    }
    mark = inside;
  }
  for (uint64_t b = 0; b < kBrackets; ++b) {
    counts[b] = {};
    for (uint64_t lane = 0; lane < kWidth; ++lane) {
      counts[b].below += static_cast<uint64_t>(below[b][lane]);
      counts[b].inside += static_cast<uint64_t>(not_above[b][lane]) - static_cast<uint64_t>(below[b][lane]);
    }
  }
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
