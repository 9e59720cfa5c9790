#include "base/error.h"
#include "debug/accuracy/layer_oracle.h"
#include "debug/value_range.h"
#include "exec/feeds.h"
#include "ir/naming.h"
#include "tasks/debug/observed.h"
#include "tasks/ranges.h"
#include "tasks/threads.h"

namespace assay::tasks {

results::RangeReport debug_range(const RangeRequest& request, Observer& observer) {
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
