// GridSample of pictures: a thread a point of the grid, for some channels. Places are computed in float64.
#define NEAREST 0
#define ZEROS 0
#define BORDER 1

// What is beside an axis of `length` elements.
struct Axis {
  int length;
  double low, high;
};
DEVICE Axis axis_of(int length) {
  Axis axis = {length, kAligns ? 0.0 : -0.5, (double)length - (kAligns ? 1.0 : 0.5)};
  return axis;
}
// From the grid's -1 to 1 to elements; what is no number lies far out.
DEVICE double place_on(const Axis& axis, double x) {
  const double size = axis.length;
  const double at = kAligns ? (x + 1) / 2 * (size - 1) : ((x + 1) * size - 1) / 2;
  return at != at ? -1e9 : at < -1e9 ? -1e9 : at > 1e9 ? 1e9 : at;
}
DEVICE double reflected(const Axis& axis, double at) {
  const double range = axis.high - axis.low;
  if (range <= 0) return 0;
  const double beyond = at < axis.low ? axis.low - at : at - axis.high;
  const double turns = floor(beyond / range);
  const double rest = beyond - turns * range;
  const bool from_same_side = fmod(turns, 2.0) == 0;
  return (at < axis.low) == from_same_side ? axis.low + rest : axis.high - rest;
}
DEVICE double inside(const Axis& axis, double at) {
  const double last = axis.length - 1;
  return at < 0 ? 0.0 : at > last ? last : at;
}
// The place as the padding moves it before elements are chosen.
DEVICE double moved(const Axis& axis, double at) {
  if (kPadding == ZEROS || (at >= axis.low && at <= axis.high)) return at;
  return kPadding == BORDER ? inside(axis, at) : reflected(axis, at);
}
// The element that stands for an index; -1: a zero.
DEVICE int element_of(const Axis& axis, double i) {
  if (i >= 0 && i < axis.length) return (int)i;
  if (kPadding == ZEROS) return -1;
  return (int)inside(axis, kPadding == BORDER || (i >= axis.low && i <= axis.high) ? i : reflected(axis, i));
}

struct Picks {
  int elements[2];
  double weights[2];
};
DEVICE Picks picks_of(const Axis& axis, double x) {
  Picks picks = {{-1, -1}, {0, 0}};
  const double at = place_on(axis, x);
  if (kMode == NEAREST) {
    picks.elements[0] = element_of(axis, moved(axis, rint(at)));
    picks.weights[0] = 1;
    return picks;
  }
  const double place = moved(axis, at), low = floor(place), rest = place - low;
  picks.elements[0] = element_of(axis, low);
  picks.elements[1] = element_of(axis, low + 1);
  picks.weights[0] = 1 - rest;
  picks.weights[1] = rest;
  return picks;
}

KERNEL(kThreads) {
  const uint32 point = block_x() * kThreads + thread_index();
  if (point >= (uint32)kAllPoints) return;
  const uint32 image = quotient(point, kPoints);
  const Picks rows = picks_of(axis_of(kHeight), widened(kGrid[2 * (int64)point + 1]));
  const Picks columns = picks_of(axis_of(kWidth), widened(kGrid[2 * (int64)point]));
  float weights[4];
  int64 elements[4];
  for (int i = 0; i < 4; ++i) {
    const int row = rows.elements[i / 2], column = columns.elements[i % 2];
    weights[i] = row < 0 || column < 0 ? 0.0f : (float)(rows.weights[i / 2] * columns.weights[i % 2]);
    elements[i] = (int64)row * kWidth + column;
  }
  const int first = (int)block_y() * kChannelsOfThread;
  const int last = first + kChannelsOfThread < kChannels ? first + kChannelsOfThread : kChannels;
  for (int channel = first; channel < last; ++channel) {
    const int64 plane = (int64)image * kChannels + channel;
    const T* const from = kIn + plane * kHeight * kWidth;
    float sum = 0;
    for (int i = 0; i < 4; ++i) {
      if (weights[i] != 0) sum += weights[i] * widened(from[elements[i]]);
    }
    kOut[plane * kPoints.divisor + (point - image * kPoints.divisor)] = Narrow<T>::of(sum);
  }
}
