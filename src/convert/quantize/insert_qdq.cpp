#include "convert/quantize/insert_qdq.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "convert/quantize/qdq_edit.h"

namespace assay::convert {
namespace {

// The first value without a range that the node works on or makes; empty: there is none.
std::string missing_range(const ir::Model& model, const QdqPlan& plan, const ir::Node& node,
                          const calibrate::Ranges& ranges) {
  const auto misses = [&](ir::ValueId value) {
    return value && plan.is_quantized[value.index] &&
           !ranges.contains(model.text(model[plan.range_of[value.index]].name));
  };
  const auto name = [&](ir::ValueId value) { return std::string(model.text(model[plan.range_of[value.index]].name)); };
  for (const ir::Use& use : node.operands) {
    if (misses(use.value)) return name(use.value);
  }
  for (const ir::ValueId value : node.results) {
    if (misses(value)) return name(value);
  }
  return {};
}

}  // namespace

QdqPlan plan_with_ranges(const ir::Model& model, QdqOptions options, const calibrate::Ranges& ranges,
                         Diagnostics& findings) {
  // Each round leaves out one node more at least.
  while (true) {
    QdqPlan plan = plan_qdq(model, options, findings);
    bool is_complete = true;
    for (const ir::NodeId id : ir::nodes(model, model.main_graph())) {
      if (plan.roles[id.index] == QdqRole::none) continue;
      const std::string name = missing_range(model, plan, model[id], ranges);
      if (name.empty()) continue;
      options.choice.kept[id] = fmt::format("the range of `{}` is not known", printable(name));
      is_complete = false;
    }
    if (is_complete) return plan;
  }
}

// A plan of the steps that the rewriter has left.
static QdqPlan plan_steps(const ir::Model& model, uint64_t steps_left, QdqOptions options,
                          const calibrate::Ranges& ranges, Diagnostics& findings) {
  QdqPlan plan = plan_with_ranges(model, options, ranges, findings);
  Diagnostics repeated;
  while (keep_behind(steps_left, plan.layers, options.choice)) {
    plan = plan_with_ranges(model, options, ranges, repeated);
  }
  return plan;
}

QdqReport insert_qdq(ir::Model& model, ir::Rewriter& rewriter, const QdqOptions& options,
                     const calibrate::Ranges& ranges, Diagnostics& findings) {
  QdqPlan plan = plan_steps(model, rewriter.steps_left(), options, ranges, findings);
  QdqReport report;
  QdqEdits edits;
  const std::vector<ir::NodeId> nodes = converted_nodes(plan.layers);
  report.changed = !nodes.empty() &&
                   rewriter.apply(options.codes == QdqCodes::float8 ? "compute with float8" : "compute with integers",
                                  nodes, [&] { edits = apply_qdq(model, rewriter.edit(), options, plan, ranges); });
  report.activations = edits.activations;
  report.weights = edits.weights;
  report.weight_bytes_before = edits.weight_bytes_before;
  report.weight_bytes_after = edits.weight_bytes_after;
  report.layers = std::move(plan.layers);
  return report;
}

QdqReport insert_qdq(ir::Model& model, const QdqOptions& options, const calibrate::Ranges& ranges,
                     Diagnostics& findings) {
  ir::Rewriter rewriter(model);
  return insert_qdq(model, rewriter, options, ranges, findings);
}

}  // namespace assay::convert
