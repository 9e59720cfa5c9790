#include "tasks/convert/measurement.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "compare/measure.h"
#include "inspect/value_sizes.h"
#include "passes/pipelines.h"
#include "passes/precision/float_values.h"
#include "remote/isolated_backend.h"
#include "tasks/convert/counted_runner.h"

namespace assay::tasks {
namespace {

constexpr uint64_t kBudgetBytes = uint64_t{1} << 30;   // of the values that are asked for together
constexpr uint64_t kUnknownBytes = kBudgetBytes / 16;  // what a value of unknown size is taken for

ir::Model inlined_copy(const ConversionJob& job) {
  ir::Model model = job.loaded.model.copy();
  ir::Rewriter rewriter(model);
  passes::inline_functions(model, rewriter);
  return model;
}

// Compares pairs of values, and lets both go.
class PairWatcher : public exec::DriveWatcher {
 public:
  void on_failure(size_t, const Error& error) override { failure_ = error; }
  bool wants_stop() const override { return failure_.has_value(); }

  std::map<std::string, results::LayerError> errors() {
    if (failure_) throw Error(*failure_);
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
    const results::PairMetrics metrics = compare::measure(changed, reference, {.infinities_equal = true});
    const results::LayerError seen = {metrics.absolute.greatest, metrics.relative.greatest, metrics.cosine,
                                      metrics.snr_db};
    const auto [known, is_new] = errors_.emplace(name, seen);
    if (!is_new) known->second = worse(known->second, seen);
  }

  std::map<std::string, tensor::Tensor> held_;
  std::map<std::string, results::LayerError> errors_;
  std::optional<Error> failure_;
};

// Pairs of one name, of two runners; the first one is the reference.
class ErrorWatcher final : public PairWatcher {
 public:
  void on_value(size_t runner, uint64_t, std::string_view name, const tensor::Datum& value) override {
    take(std::string(name), runner == 0, value);
  }
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

Measurement::Measurement(ConversionJob& job, std::string backend)
    : observer_(job.observer),
      backend_(std::move(backend)),
      session_(job.request.session),
      model_(inlined_copy(job)),
      findings_(job.loaded.findings),
      data_(make_inputs(model_, job.request.inputs, job.observer, findings_)),
      taps_(plan_taps()) {
  job.uses_inputs = true;
}

exec::TapPlan Measurement::plan_taps() const {
  const std::optional<tensor::NamedData> feeds = data_.source->get(0);
  if (!feeds) fail(ErrorCode::usage, "there are no inputs to measure with");
  const std::map<std::string, uint64_t> sizes = inspect::value_sizes(model_, *feeds);
  const passes::FloatModel floats(model_, tensor::DType::float16);
  std::vector<exec::Tap> taps;
  for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) {
    for (const ir::ValueId value : model_[node].results) {
      if (!value || floats.holds[value.index] != passes::Holds::float32) continue;
      const std::string name(model_.text(model_[value].name));
      const auto size = sizes.find(name);
      taps.push_back({name, size == sizes.end() ? kUnknownBytes : size->second});
    }
  }
  return exec::plan_taps(taps, kBudgetBytes);
}

exec::RunnerPtr Measurement::runner(const ir::Model& model, const exec::TapPlan& taps, const std::string& name,
                                    Counter& progress) const {
  exec::SessionOptions options = session_;
  for (const std::vector<std::string>& group : taps)
    options.values.insert(options.values.end(), group.begin(), group.end());
  exec::BackendPtr backend = remote::safe_backend(backend_, session_.search);
  return counted_runner(exec::backend_runner(name, std::move(backend), model, std::move(options)), progress);
}

uint64_t Measurement::value_count(const exec::TapPlan& taps, uint64_t runners) const {
  uint64_t values = 0;
  for (const std::vector<std::string>& group : taps) values += std::max<uint64_t>(group.size(), 1);
  return counted_steps(data_.source->count(), values * runners);
}

quantize::Ranges Measurement::ranges() {
  Counter progress(observer_, "ranges measured", value_count(taps_, 1));
  return quantize::measure_ranges(runner(model_, taps_, backend_, progress), *data_.source, taps_, findings_);
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
  Counter progress(observer_, "values measured", value_count(taps, 1));
  ShadowWatcher watcher(pairs);
  exec::DrivePlan plan;
  plan.taps = taps;
  const exec::RunnerPtr shadow = runner(shadowed, taps, "shadowed", progress);
  exec::drive({&shadow, 1}, data_.source.get(), plan, watcher, findings_);
  return watcher.errors();
}

std::vector<passes::ValueRanges> Measurement::calibrate(const std::vector<std::string>& names,
                                                        quantize::CalibrationOptions options) {
  options.names = {names.begin(), names.end()};
  for (std::vector<std::string> group : taps_) {
    std::erase_if(group, [&](const std::string& name) { return !options.names.contains(name); });
    if (!group.empty()) options.taps.push_back(std::move(group));
  }
  if (options.taps.empty()) options.taps.emplace_back();  // inputs alone are seen without one
  Counter progress(observer_, "values calibrated", value_count(options.taps, 1));
  const exec::RunnerPtr running = runner(model_, options.taps, backend_, progress);
  return quantize::calibrate(running, *data_.source, options, findings_);
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

std::map<std::string, results::LayerError> Measurement::errors_of(const ir::Model& converted,
                                                                  const std::set<std::string_view>& names) {
  exec::TapPlan taps = taps_;
  for (std::vector<std::string>& group : taps) {
    std::erase_if(group, [&](const std::string& name) { return !names.contains(name); });
  }
  std::erase_if(taps, [](const std::vector<std::string>& group) { return group.empty(); });
  Counter progress(observer_, "values measured", value_count(taps, 2));
  ErrorWatcher watcher;
  exec::DrivePlan plan;
  plan.taps = taps;
  const std::array runners = {runner(model_, taps, "float32", progress),
                              runner(converted, taps, "converted", progress)};
  exec::drive(runners, data_.source.get(), plan, watcher, findings_);
  return watcher.errors();
}

}  // namespace assay::tasks
