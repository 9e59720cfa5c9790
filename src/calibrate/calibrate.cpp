#include "calibrate/calibrate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/parallel.h"
#include "base/text.h"

namespace assay::calibrate {
namespace {

struct Extent {
  float low = 0;
  float high = 0;
  bool has_nan = false;
};

Extent extent_of(tensor::Bytes floats) {
  constexpr uint64_t kGrain = uint64_t{1} << 18;
  const auto look = [floats](uint64_t begin, uint64_t end) {
    Extent found;
    for (uint64_t i = begin; i < end; ++i) {
      float number = 0;
      std::memcpy(&number, floats.data() + i * sizeof(float), sizeof(float));
      found.low = std::min(found.low, number);
      found.high = std::max(found.high, number);
      found.has_nan = found.has_nan || number != number;
    }
    return found;
  };
  const auto join = [](const Extent& a, const Extent& b) {
    return Extent{std::min(a.low, b.low), std::max(a.high, b.high), a.has_nan || b.has_nan};
  };
  return parallel_reduce(floats.size() / sizeof(float), kGrain, Extent(), look, join);
}

class CalibrationWatcher final : public exec::DriveWatcher {
 public:
  explicit CalibrationWatcher(const CalibrationOptions& options) : options_(options) {}

  void on_feeds(size_t, uint64_t iteration, const tensor::NamedData& feeds) override {
    for (const tensor::NamedDatum& feed : feeds) look(iteration, feed.name, feed.value);
  }
  void on_value(size_t, uint64_t iteration, std::string_view name, const tensor::Datum& value) override {
    look(iteration, name, value);
  }
  void on_failure(size_t, const Error& error) override { failure_ = error; }
  bool wants_stop() const override { return failure_.has_value(); }

  Statistics take() {
    if (failure_) throw Error(*failure_);
    return std::move(seen_);
  }

 private:
  void look(uint64_t iteration, std::string_view name, const tensor::Datum& value) {
    if (failure_ || !options_.names.contains(name) || !value.is_tensor()) return;
    const tensor::Tensor& tensor = value.tensor();
    if (tensor.dtype() != tensor::DType::float32) return;
    const Extent extent = extent_of(tensor.bytes());
    if (extent.has_nan || std::isinf(extent.low) || std::isinf(extent.high)) {
      failure_ = Error(ErrorCode::usage, fmt::format("value `{}` has {} in batch {}: ranges need finite numbers; check "
                                                     "these inputs, or exclude the layer that computes it",
                                                     printable(name), extent.has_nan ? "NaN" : "infinity", iteration));
      return;
    }
    Distribution& seen = seen_[std::string(name)];
    seen.range.low = std::min(seen.range.low, double{extent.low});
    seen.range.high = std::max(seen.range.high, double{extent.high});
    if (options_.wants_histograms) seen.histogram.add(tensor.bytes(), std::max(-extent.low, extent.high));
  }

  const CalibrationOptions& options_;
  Statistics seen_;
  std::optional<Error> failure_;
};

double threshold_of(const Histogram& histogram, Calibration calibration, double quantile) {
  if (calibration == Calibration::entropy) return entropy_threshold(histogram);
  if (calibration == Calibration::mse) return square_threshold(histogram);
  return percentile_threshold(histogram, quantile);
}

}  // namespace

void Distribution::add(const Distribution& other) {
  range.low = std::min(range.low, other.range.low);
  range.high = std::max(range.high, other.range.high);
  histogram.add(other.histogram);
}

std::string_view name(Calibration calibration) {
  switch (calibration) {
    case Calibration::minmax:
      return "minmax";
    case Calibration::entropy:
      return "entropy";
    case Calibration::percentile:
      return "percentile";
    case Calibration::mse:
      return "mse";
  }
  return "";
}

Statistics calibrate(const exec::RunnerPtr& runner, exec::DataSource& source, const CalibrationOptions& options,
                     Diagnostics& findings) {
  CalibrationWatcher watcher(options);
  exec::DrivePlan plan;
  plan.taps = options.taps;
  exec::drive({&runner, 1}, &source, plan, watcher, findings);
  return watcher.take();
}

Ranges ranges_of(const Statistics& statistics, Calibration calibration, double quantile) {
  Ranges ranges;
  for (const auto& [name, seen] : statistics) {
    ranges[name] = seen.range;
    if (calibration == Calibration::minmax) continue;
    const double threshold = threshold_of(seen.histogram, calibration, quantile);
    ranges[name] = {std::max(seen.range.low, -threshold), std::min(seen.range.high, threshold)};
  }
  return ranges;
}

}  // namespace assay::calibrate
