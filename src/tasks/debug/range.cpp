#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "debug/accuracy/layer_oracle.h"
#include "debug/intervals.h"
#include "debug/value_range.h"
#include "exec/feeds.h"
#include "ir/naming.h"
#include "tasks/debug/observed.h"
#include "tasks/ranges.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

// The interval of an input that would be drawn.
debug::Interval drawn_interval(const exec::GenerateOptions& options, std::string_view name) {
  debug::Interval interval = {0, 1};
  if (options.float_range) interval = {options.float_range->low, options.float_range->high};
  for (const exec::InputRange& range : options.ranges) {
    if (range.pattern.empty() || matches_glob(range.pattern, name)) interval = {range.low, range.high};
  }
  return interval;
}

debug::Interval interval_of(const std::vector<double>& numbers) {
  if (numbers.empty()) return {0, 0};
  const auto [low, high] = std::ranges::minmax(numbers);
  return {low, high};
}

std::map<ir::ValueId, debug::Interval> input_intervals(const RangeRequest& request, LoadedModel& loaded,
                                                       Observer& observer) {
  std::map<ir::ValueId, debug::Interval> intervals;
  if (request.inputs.is_generated()) {
    for (const ir::ValueId input : loaded.model[loaded.model.main_graph()].inputs) {
      intervals[input] = drawn_interval(request.inputs.generated, loaded.model.text(loaded.model[input].name));
    }
    return intervals;
  }
  const InputData data = make_inputs(loaded.model, request.inputs, observer, loaded.findings);
  for (const ops::InputDatum& input : first_inputs(loaded.model, data, loaded.findings)) {
    if (debug::is_numeric(input.datum)) intervals[input.value] = interval_of(debug::numbers_of(input.datum));
  }
  return intervals;
}

results::RangeReport static_ranges(const RangeRequest& request, Observer& observer) {
  const Stopwatch total;
  LoadedModel loaded = load_model(request.model, observer);
  require_runnable(loaded);
  infer_shapes(loaded);
  const std::map<ir::ValueId, debug::Interval> intervals =
      debug::value_intervals(loaded.model, input_intervals(request, loaded, observer));
  tell_findings(loaded.findings, observer);
  results::RangeReport report{.model = request.model.path, .is_static = true};
  const ir::Model& model = loaded.model;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    for (const ir::ValueId value : model[node].results) {
      const auto found = intervals.find(value);
      if (!value || found == intervals.end()) continue;
      report.bounds.push_back({std::string(model.text(model[value].name)), std::string(ir::known_name(model, node)),
                               std::string(model.text(model[node].op)), found->second.low, found->second.high});
    }
  }
  report.timings = {{"load_seconds", loaded.load_seconds}, {"total_seconds", total.seconds()}};
  return report;
}

}  // namespace

results::RangeReport debug_range(const RangeRequest& request, Observer& observer) {
  if (request.is_static) return static_ranges(request, observer);
  const Stopwatch total;
  const TaskThreads threads(request.threads);
  LoadedModel loaded = load_model(request.model, observer);
  require_runnable(loaded);
  const InputData data = make_inputs(loaded.model, request.inputs, observer, loaded.findings);
  const std::vector<ops::InputDatum> inputs = first_inputs(loaded.model, data, loaded.findings);
  tell_findings(loaded.findings, observer);
  const ir::Model& model = loaded.model;
  std::vector<ir::ValueId> wanted;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    for (const ir::ValueId value : model[node].results) {
      if (value && model[value].name != ir::kEmpty) wanted.push_back(value);
    }
  }
  results::RangeReport report{.model = request.model.path};
  Counter counter(observer, "values", wanted.size());
  ops::Interpreter(model, {.is_wide = true, .max_memory_bytes = request.max_memory_bytes})
      .run(inputs, wanted, [&](ir::ValueId value, const tensor::Datum& datum) {
        counter.advance();
        if (!debug::is_numeric(datum) || !tensor::is_floating(datum.declared())) return;
        results::ValueRange range = debug::measure_range(debug::numbers_of(datum));
        range.value = model.text(model[value].name);
        range.node = ir::known_name(model, model[value].producer);
        range.op = model.text(model[model[value].producer].op);
        report.values.push_back(std::move(range));
      });
  report.timings = {{"load_seconds", loaded.load_seconds}, {"total_seconds", total.seconds()}};
  return report;
}

}  // namespace assay::tasks
