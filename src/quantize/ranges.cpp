#include "quantize/ranges.h"

#include <algorithm>
#include <optional>

#include "passes/precision/half_kernels.h"

namespace assay::quantize {
namespace {

class RangeWatcher final : public exec::DriveWatcher {
 public:
  void on_feeds(size_t, uint64_t, const tensor::NamedData& feeds) override {
    for (const tensor::NamedDatum& feed : feeds) look(feed.name, feed.value);
  }
  void on_value(size_t, uint64_t, std::string_view name, const tensor::Datum& value) override { look(name, value); }
  void on_failure(size_t, const Error& error) override { failure_ = error; }
  bool wants_stop() const override { return false; }

  Ranges take() {
    if (failure_) throw Error(*failure_);
    return std::move(ranges_);
  }

 private:
  void look(std::string_view name, const tensor::Datum& value) {
    if (!value.is_tensor() || value.tensor().dtype() != tensor::DType::float32) return;
    const float largest = passes::survey_floats(tensor::DType::float16, value.tensor().bytes()).largest;
    float& known = ranges_[std::string(name)];
    known = std::max(known, largest);
  }

  Ranges ranges_;
  std::optional<Error> failure_;
};

}  // namespace

Ranges measure_ranges(const exec::RunnerPtr& runner, exec::DataSource& source, const exec::TapPlan& taps,
                      Diagnostics& findings) {
  RangeWatcher watcher;
  exec::DrivePlan plan;
  plan.taps = taps;
  exec::drive({&runner, 1}, &source, plan, watcher, findings);
  return watcher.take();
}

}  // namespace assay::quantize
