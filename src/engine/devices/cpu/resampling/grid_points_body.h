// The loops of grid_points.h; a body of instruction_sets_body.h.

using Doubles [[gnu::vector_size(kBytes), gnu::may_alias]] = double;
using Longs [[gnu::vector_size(kBytes), gnu::may_alias]] = int64_t;
using Floats [[gnu::vector_size(kBytes / 2), gnu::may_alias]] = float;
using Ints [[gnu::vector_size(kBytes / 2), gnu::may_alias]] = int32_t;
constexpr size_t kDoubles = kBytes / sizeof(double);

ASSAY_KERNEL inline void choose(Longs yes, const Doubles& a, const Doubles& b, Doubles& out) { out = yes ? a : b; }
ASSAY_KERNEL inline void clamp(const Doubles& x, double high, Doubles& out) {
  choose(x < 0.0, Doubles{}, x, out);
  choose(out > high, Doubles{} + high, out, out);
}

// The two elements of an axis for some places, and their weights: 0 for an element outside that is not at the border.
struct Picks {
  Doubles elements[2], weights[2];
};

ASSAY_KERNEL inline void pick(const GridPlane& plane, double length, const Doubles& normalized, Picks& out) {
  constexpr double kFar = 1e9;
  const double last = length - 1, outside = plane.aligns_corners ? 0 : 0.5;
  Doubles place = plane.aligns_corners ? (normalized + 1.0) / 2.0 * last : ((normalized + 1.0) * length - 1.0) / 2.0;
  choose(place < kFar, place, Doubles{} + kFar, place);
  choose((place >= -kFar) & (normalized == normalized), place, Doubles{} - kFar, place);
  if (plane.has_border) {
    Doubles inside;
    clamp(place, last, inside);
    choose((place < -outside) | (place > last + outside), inside, place, place);
  }
  Doubles low = __builtin_convertvector(__builtin_convertvector(place, Ints), Doubles);
  choose(low > place, low - 1.0, low, low);
  const Doubles rest = place - low;
  out.weights[0] = 1.0 - rest;
  out.weights[1] = rest;
  for (int i = 0; i < 2; ++i) {
    const Doubles element = low + static_cast<double>(i);
    clamp(element, last, out.elements[i]);
    if (!plane.has_border) choose(out.elements[i] == element, out.weights[i], Doubles{}, out.weights[i]);
  }
}

ASSAY_KERNEL void find(const GridPlane& plane, const float* places, size_t count, GridPoints& points) {
  for (size_t i = 0; i < count; i += kDoubles) {
    Doubles x = {}, y = {};
    for (size_t lane = 0; lane < std::min(kDoubles, count - i); ++lane) {
      x[lane] = double{places[2 * (i + lane)]};
      y[lane] = double{places[2 * (i + lane) + 1]};
    }
    Picks columns, rows;
    pick(plane, plane.width, x, columns);
    pick(plane, plane.height, y, rows);
    for (int term = 0; term < 4; ++term) {
      const Doubles element = rows.elements[term / 2] * plane.width + columns.elements[term % 2];
      const Doubles weight = rows.weights[term / 2] * columns.weights[term % 2];
      *reinterpret_cast<Ints*>(points.elements[term] + i) = __builtin_convertvector(element, Ints);
      *reinterpret_cast<Floats*>(points.weights[term] + i) = __builtin_convertvector(weight, Floats);
    }
  }
}

ASSAY_KERNEL void sum(const GridPoints& points, const float* plane, size_t count, float* out) {
  for (size_t i = 0; i < count; ++i) {
    float sum = 0;
#pragma GCC unroll 4
    for (int term = 0; term < 4; ++term) sum += points.weights[term][i] * plane[points.elements[term][i]];
    out[i] = sum;
  }
}

constexpr GridKernels kKernels = {kName, find, sum};
