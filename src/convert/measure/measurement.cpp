#include "convert/measure/measurement.h"

#include <algorithm>
#include <array>

#include "analysis/fed_types.h"
#include "analysis/value_sizes.h"
#include "base/error.h"
#include "base/text.h"
#include "compare/measure.h"
#include "compare/next_token.h"
#include "convert/precision/float_values.h"

namespace assay::convert {
namespace {

constexpr uint64_t kBudgetBytes = uint64_t{1} << 30;   // of the values that are asked for together
constexpr uint64_t kUnknownBytes = kBudgetBytes / 16;  // taken for a value of unknown size

// Stops at the first failure, which is thrown when the result is asked for.
class MeasuringWatcher : public exec::DriveWatcher {
 public:
  void on_failure(size_t, const Error& error) override { failure_ = error; }
  bool wants_stop() const override { return failure_.has_value(); }

 protected:
  void require_success() const {
    if (failure_) throw Error(*failure_);
  }

 private:
  std::optional<Error> failure_;
};

// Compares pairs of values, and lets both go.
class PairWatcher : public MeasuringWatcher {
 public:
  std::map<std::string, results::LayerError> errors() {
    require_success();
    return std::move(errors_);
  }

 protected:
  // The second of the two that comes is compared.
  void take(const std::string& key, bool is_reference, const tensor::Datum& value) {
    if (!value.is_tensor()) return;
    const auto held = held_.find(key);
    if (held == held_.end()) {
      held_.emplace(key, value.tensor());
      return;
    }
    is_reference ? compare(key, held->second, value.tensor()) : compare(key, value.tensor(), held->second);
    held_.erase(held);
  }

 private:
  void compare(const std::string& name, const tensor::Tensor& changed, const tensor::Tensor& reference) {
    if (changed.shape() != reference.shape() || changed.count() == 0) return;
    const results::PairMetrics metrics =
        compare::measure(changed, reference, {.infinities_equal = true, .b_is_signal = true});
    const results::LayerError seen = {metrics.absolute.greatest, metrics.relative.greatest, metrics.cosine,
                                      metrics.snr_db};
    const auto [known, is_new] = errors_.emplace(name, seen);
    if (!is_new) known->second = worse(known->second, seen);
  }

  std::map<std::string, tensor::Tensor> held_;
  std::map<std::string, results::LayerError> errors_;
};

// Pairs of one name, of two runners; the first one is the reference.
class ErrorWatcher final : public PairWatcher {
 public:
  void on_value(size_t runner, uint64_t, std::string_view name, const tensor::Datum& value) override {
    take(std::string(name), runner == 0, value);
  }
};

// Rows whose greatest elements have the same place; the first of several counts.
struct Agreement {
  uint64_t rows = 0;
  uint64_t same = 0;
};

class AgreementWatcher final : public MeasuringWatcher {
 public:
  void on_value(size_t runner, uint64_t, std::string_view name, const tensor::Datum& value) override {
    if (!value.is_tensor() || !tensor::is_floating(value.tensor().dtype()) || value.tensor().count() == 0) return;
    const tensor::Tensor& tensor = value.tensor();
    const uint64_t width = tensor.shape().empty() ? 1 : static_cast<uint64_t>(tensor.shape().back());
    const uint64_t rows = tensor.count() / width;
    std::vector<int64_t> places = compare::next_scores(tensor, rows, 0).tokens;
    if (runner == 0) {
      held_[std::string(name)] = std::move(places);
      return;
    }
    const std::vector<int64_t>& expected = held_[std::string(name)];
    Agreement& seen = seen_[std::string(name)];
    seen.rows += rows;
    for (size_t i = 0; i < std::min(places.size(), expected.size()); ++i) seen.same += places[i] == expected[i] ? 1 : 0;
  }

  std::optional<double> worst() const {
    require_success();
    if (seen_.empty()) return std::nullopt;
    double worst = 1;
    for (const auto& [name, seen] : seen_)
      worst = std::min(worst, static_cast<double>(seen.same) / static_cast<double>(seen.rows));
    return worst;
  }

 private:
  std::map<std::string, std::vector<int64_t>> held_;
  std::map<std::string, Agreement> seen_;
};

class TimeWatcher final : public MeasuringWatcher {
 public:
  void on_value(size_t, uint64_t, std::string_view, const tensor::Datum&) override {}
  void on_iteration(size_t, uint64_t, std::optional<double> seconds) override {
    if (seconds) least_ = std::min(least_.value_or(*seconds), *seconds);
  }

  std::optional<double> least() const {
    require_success();
    return least_;
  }

 private:
  std::optional<double> least_;
};

// Pairs of two names, of one runner; the first name is that of the reference.
class ShadowWatcher final : public PairWatcher {
 public:
  explicit ShadowWatcher(const Measurement::NamePairs& pairs) {
    for (const auto& [reference, shadow] : pairs) {
      keys_[reference].push_back({reference, true});
      keys_[shadow].push_back({reference, false});
    }
  }
  void on_value(size_t, uint64_t, std::string_view name, const tensor::Datum& value) override {
    const auto found = keys_.find(name);
    if (found == keys_.end()) return;
    for (const auto& [key, is_reference] : found->second) take(key, is_reference, value);
  }

 private:
  std::map<std::string, std::vector<std::pair<std::string, bool>>, std::less<>> keys_;
};

}  // namespace

results::LayerError worse(const results::LayerError& a, const results::LayerError& b) {
  return {std::max(a.max_abs, b.max_abs), std::max(a.max_rel, b.max_rel), std::min(a.cosine, b.cosine),
          std::min(a.snr_db, b.snr_db)};
}

Measurement::Measurement(ir::Model model, exec::DataSource& source, MeasuringHost& host, Diagnostics& findings)
    : model_(std::move(model)), source_(source), host_(host), findings_(findings), taps_(plan_taps()) {}

exec::TapPlan Measurement::plan_taps() const {
  const std::optional<tensor::NamedData> feeds = source_.get(0);
  if (!feeds) fail(ErrorCode::usage, "there are no inputs to measure with");
  const std::map<std::string, uint64_t> sizes = analysis::value_sizes(model_, *feeds);
  const FloatModel floats(model_, tensor::DType::float16);
  std::vector<exec::Tap> taps;
  for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) {
    for (const ir::ValueId value : model_[node].results) {
      if (!value || floats.holds[value.index] != Holds::float32) continue;
      const std::string name(model_.text(model_[value].name));
      const auto size = sizes.find(name);
      taps.push_back({name, size == sizes.end() ? kUnknownBytes : size->second});
    }
  }
  return exec::plan_taps(taps, kBudgetBytes);
}

std::map<ir::NodeId, uint64_t> Measurement::macs() const {
  ops::Inference inference(model_, analysis::fed_types(model_, *source_.get(0)));
  inference.run();
  std::map<ir::NodeId, uint64_t> macs;
  for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) {
    macs[node] = static_cast<uint64_t>(std::max<int64_t>(0, inference.macs(node).number().value_or(0)));
  }
  return macs;
}

uint64_t Measurement::value_count(const exec::TapPlan& taps, uint64_t runners) const {
  uint64_t values = 0;
  for (const std::vector<std::string>& group : taps) values += std::max<uint64_t>(group.size(), 1);
  constexpr uint64_t kMostCounted = uint64_t{1} << 32;
  const uint64_t iterations = source_.count().value_or(0);
  return iterations <= kMostCounted ? iterations * values * runners : 0;
}

calibrate::Magnitudes Measurement::magnitudes() {
  const std::unique_ptr<MeasuringWork> work = host_.start("ranges measured", value_count(taps_, 1));
  return calibrate::measure_magnitudes(work->runner(model_, taps_, {}), source_, taps_, findings_);
}

std::map<std::string, results::LayerError> Measurement::differences(const ir::Model& shadowed, const NamePairs& pairs) {
  exec::TapPlan taps;
  for (const std::vector<std::string>& group : taps_) {
    std::vector<std::string> wanted;
    for (const std::string& name : group) {
      const auto pair = pairs.find(name);
      if (pair == pairs.end()) continue;
      wanted.push_back(name);
      wanted.push_back(pair->second);
    }
    if (!wanted.empty()) taps.push_back(std::move(wanted));
  }
  const std::unique_ptr<MeasuringWork> work = host_.start("values measured", value_count(taps, 1));
  ShadowWatcher watcher(pairs);
  exec::DrivePlan plan;
  plan.taps = taps;
  const exec::RunnerPtr shadow = work->runner(shadowed, taps, "shadowed");
  exec::drive({&shadow, 1}, &source_, plan, watcher, findings_);
  return watcher.errors();
}

calibrate::Statistics Measurement::statistics(const std::vector<std::string>& names, bool wants_histograms) {
  calibrate::CalibrationOptions options;
  options.names = {names.begin(), names.end()};
  options.wants_histograms = wants_histograms;
  for (std::vector<std::string> group : taps_) {
    std::erase_if(group, [&](const std::string& name) { return !options.names.contains(name); });
    if (!group.empty()) options.taps.push_back(std::move(group));
  }
  if (options.taps.empty()) options.taps.emplace_back();  // inputs alone are seen without one
  const std::unique_ptr<MeasuringWork> work = host_.start("values calibrated", value_count(options.taps, 1));
  const exec::RunnerPtr running = work->runner(model_, options.taps, {});
  return calibrate::calibrate(running, source_, options, findings_);
}

std::map<std::string, calibrate::Moments> Measurement::moments(const std::vector<std::string>& names) {
  const std::set<std::string> wanted(names.begin(), names.end());
  exec::TapPlan taps;
  for (std::vector<std::string> group : taps_) {
    std::erase_if(group, [&](const std::string& name) { return !wanted.contains(name); });
    if (!group.empty()) taps.push_back(std::move(group));
  }
  if (taps.empty()) taps.emplace_back();  // inputs alone are seen without one
  const std::unique_ptr<MeasuringWork> work = host_.start("values weighed", value_count(taps, 1));
  return calibrate::measure_moments(work->runner(model_, taps, {}), source_, taps, names, findings_);
}

std::map<std::string, results::LayerError> Measurement::errors(const ir::Model& converted) {
  std::set<std::string_view> known;
  for (const ir::NodeId node : ir::nodes(converted, converted.main_graph())) {
    for (const ir::ValueId value : converted[node].results) {
      if (value) known.insert(converted.text(converted[value].name));
    }
  }
  return errors_of(converted, known);
}

std::map<std::string, results::LayerError> Measurement::output_errors(const ir::Model& converted) {
  std::set<std::string_view> names;
  for (const ir::Use& use : model_.outputs(model_.main_graph())) names.insert(model_.text(model_[use.value].name));
  return errors_of(converted, names);
}

std::vector<std::string> Measurement::output_names() const {
  std::vector<std::string> names;
  for (const ir::Use& use : model_.outputs(model_.main_graph()))
    names.emplace_back(model_.text(model_[use.value].name));
  return names;
}

std::optional<double> Measurement::seconds(const ir::Model& converted) {
  exec::DrivePlan plan;
  plan.taps = {output_names()};
  plan.warm_up = 1;
  const std::unique_ptr<MeasuringWork> work = host_.start("runs timed", value_count(plan.taps, 1));
  TimeWatcher watcher;
  const exec::RunnerPtr runner = work->runner(converted, plan.taps, "converted");
  exec::drive({&runner, 1}, &source_, plan, watcher, findings_);
  return watcher.least();
}

std::optional<double> Measurement::top1_agreement(const ir::Model& converted) {
  const exec::TapPlan taps = {output_names()};
  const std::unique_ptr<MeasuringWork> work = host_.start("values measured", value_count(taps, 2));
  AgreementWatcher watcher;
  exec::DrivePlan plan;
  plan.taps = taps;
  const std::array runners = {work->runner(model_, taps, "float32"), work->runner(converted, taps, "converted")};
  exec::drive(runners, &source_, plan, watcher, findings_);
  return watcher.worst();
}

std::map<std::string, results::LayerError> Measurement::errors_of(const ir::Model& converted,
                                                                  const std::set<std::string_view>& names) {
  exec::TapPlan taps = taps_;
  for (std::vector<std::string>& group : taps) {
    std::erase_if(group, [&](const std::string& name) { return !names.contains(name); });
  }
  std::erase_if(taps, [](const std::vector<std::string>& group) { return group.empty(); });
  const std::unique_ptr<MeasuringWork> work = host_.start("values measured", value_count(taps, 2));
  ErrorWatcher watcher;
  exec::DrivePlan plan;
  plan.taps = taps;
  const std::array runners = {work->runner(model_, taps, "float32"), work->runner(converted, taps, "converted")};
  exec::drive(runners, &source_, plan, watcher, findings_);
  return watcher.errors();
}

}  // namespace assay::convert
