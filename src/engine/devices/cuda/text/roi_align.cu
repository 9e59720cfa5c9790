// RoiAlign of pictures with channels last: the mean of all samples of a bin, or their greatest weighted neighbour. A
// thread a channel of a bin; places are computed in float64.
#define kMostSamples 1048576.0

// A region along one axis.
struct Axis {
  double start, length;
  int bins, size, samples;
};
// Samples beside which all are outside of the picture.
struct Range {
  int begin, end;
};
struct Sample {
  int low, high;
  double rest;
  bool is_outside;
};

DEVICE Axis axis_of(const Params& p, int64 region, int first, int bins, int size) {
  Axis axis;
  const double offset = kIsHalfPixel ? 0.5 : 0.0;
  const double scale = kScale;
  axis.start = (double)widened(kRegions[region * 4 + first]) * scale - offset;
  const double given = (double)widened(kRegions[region * 4 + first + 2]) * scale - offset - axis.start;
  axis.length = kIsHalfPixel || given > 1.0 ? given : 1.0;
  axis.bins = bins;
  axis.size = size;
  const double wanted = kRatio > 0 ? (double)kRatio : ceil(axis.length / bins);
  axis.samples = wanted <= kMostSamples ? (int)(wanted < 0 ? 0.0 : wanted) : -1;
  return axis;
}
DEVICE double between(double x, double low, double high) { return x < low ? low : x > high ? high : x; }
DEVICE Range near_picture(const Axis& axis, int bin) {
  Range range = {0, axis.samples};
  const double step = axis.length / axis.bins, distance = step / axis.samples;
  if (!(distance > 0)) return range;
  const double first = axis.start + bin * step, count = axis.samples;
  range.begin = (int)between(between((-1.0 - first) / distance, -2.0, count + 2) - 2, 0.0, count);
  range.end = (int)between(between((axis.size - first) / distance, -2.0, count + 2) + 2, 0.0, count);
  if (range.end < range.begin) range.end = range.begin;
  return range;
}
DEVICE Sample sample_of(const Axis& axis, int bin, int i) {
  const double step = axis.length / axis.bins;
  const double at = axis.start + bin * step + (i + 0.5) * step / axis.samples;
  Sample sample = {0, 0, 0, !(at >= -1 && at <= (double)axis.size) || axis.size == 0};
  if (sample.is_outside) return sample;
  const double within = at < 0 ? 0.0 : at;
  sample.low = (int)within < axis.size - 1 ? (int)within : axis.size - 1;
  sample.high = sample.low + 1 < axis.size - 1 ? sample.low + 1 : axis.size - 1;
  sample.rest = sample.low == sample.high ? 0.0 : within - sample.low;
  return sample;
}

KERNEL(kThreads) {
  const uint32 result = block_x() * kThreads + thread_index();
  if (result >= (uint32)kResults) return;
  const uint32 bin = quotient(result, kByChannels);
  const uint32 channel = result - bin * kByChannels.divisor;
  const uint32 line = quotient(bin, kByWidth);
  const uint32 region = quotient(line, kByHeight);
  const int bin_x = (int)(bin - line * kByWidth.divisor), bin_y = (int)(line - region * kByHeight.divisor);
  const Axis rows = axis_of(p, region, 1, (int)kByHeight.divisor, kHeight);
  const Axis columns = axis_of(p, region, 0, (int)kByWidth.divisor, kWidth);
  const int64 image = kImage[region];
  if (rows.samples < 0 || columns.samples < 0 || image < 0 || image >= kImages) {
    *kFault = 1;
    return;
  }
  const T* const picture = kIn + image * kHeight * kWidth * kByChannels.divisor + channel;
  const Range down = near_picture(rows, bin_y), beside = near_picture(columns, bin_x);
  const bool are_all = down.end - down.begin == rows.samples && beside.end - beside.begin == columns.samples;
  const double samples = (double)rows.samples * columns.samples, share = 1.0 / (samples > 1 ? samples : 1.0);
  const bool is_empty = down.end == down.begin || beside.end == beside.begin;
  float made = kTakesGreatest && are_all && !is_empty ? -kInfinity : 0.0f;
  for (int i = down.begin; i < down.end; ++i) {
    const Sample y = sample_of(rows, bin_y, i);
    for (int k = beside.begin; k < beside.end; ++k) {
      const Sample x = sample_of(columns, bin_x, k);
      if (y.is_outside || x.is_outside) {
        if (kTakesGreatest) made = larger(made, 0.0f);
        continue;
      }
      for (int corner = 0; corner < 4; ++corner) {
        const bool is_low = corner / 2 == 0, is_left = corner % 2 == 0;
        const double weight = (is_low ? 1 - y.rest : y.rest) * (is_left ? 1 - x.rest : x.rest);
        const int64 place = (int64)(is_low ? y.low : y.high) * kWidth + (is_left ? x.low : x.high);
        const float pixel = widened(picture[place * kByChannels.divisor]);
        made = kTakesGreatest ? larger(made, (float)weight * pixel) : made + (float)(weight * share) * pixel;
      }
    }
  }
  kOut[result] = Narrow<T>::of(made);
}
