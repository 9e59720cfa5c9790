#include "convert/quantize/dequantize.h"

#include <algorithm>

#include "base/error.h"
#include "convert/quantize/qdq_rules.h"
#include "ir/queries.h"
#include "ir/walk.h"
#include "ir/written.h"
#include "ops/evaluate.h"
#include "ops/traits.h"

namespace assay::convert {
namespace {

// Runs a node that has no bodies and draws nothing.
class PlainRunner final : public ops::BodyRunner {
 public:
  std::vector<ops::Datum> run_body(ir::GraphId, std::span<const ops::Datum>) override { return {}; }
  uint64_t next_seed() override { return 0; }
  uint64_t max_steps() const override { return 0; }
};

bool decodes(passes::PassRun& run, ir::NodeId node) {
  return run.is_standard(node) && ops::traits(run.model(), node).decodes();
}

std::vector<ir::NodeId> dequantizers(passes::PassRun& run) {
  const ir::Model& model = run.model();
  std::vector<ir::NodeId> found;
  for (const ir::NodeId node : ir::live_nodes(model)) {
    if (decodes(run, node)) found.push_back(node);
  }
  return found;
}

// The operands as data; empty if one is not constant.
std::vector<ops::Datum> constant_operands(passes::PassRun& run, ir::NodeId node) {
  std::vector<ops::Datum> operands;
  for (const ir::Use& use : run.model()[node].operands) {
    const tensor::Tensor* constant = use.value ? run.constant(use.value) : nullptr;
    if (use.value && !constant) return {};
    operands.push_back(constant ? ops::Datum(*constant) : ops::Datum());
  }
  return operands;
}

bool is_used_by_others(const ir::Model& model, ir::ValueId value, ir::NodeId node) {
  for (const ir::Use& use : ir::uses(model, value)) {
    if (use.user != node) return true;
  }
  return false;
}

// Initializers that go with the only node that uses them.
void remove_lone_operands(const ir::Model& model, ir::NodeId node, ir::Patch& patch) {
  std::vector<ir::ValueId> removed;
  for (const ir::Use& use : model[node].operands) {
    const bool is_initializer = use.value && model[use.value].kind == ir::ValueKind::initializer;
    if (!is_initializer || std::ranges::count(removed, use.value) > 0) continue;
    if (is_used_by_others(model, use.value, node)) continue;
    removed.push_back(use.value);
    patch.remove(use.value);
  }
}

bool is_same_constant(passes::PassRun& run, ir::ValueId a, ir::ValueId b) {
  if (a == b) return true;
  const tensor::Tensor* first = run.constant(a);
  const tensor::Tensor* second = run.constant(b);
  return first && second && first->dtype() == second->dtype() && first->shape() == second->shape() &&
         std::ranges::equal(first->bytes(), second->bytes());
}

// True if the second node gives back the operand of the first, but for the rounding.
bool is_pair(passes::PassRun& run, ir::NodeId quantize, ir::NodeId dequantize) {
  const ir::Model& model = run.model();
  const ir::Node& first = model[quantize];
  const ir::Node& second = model[dequantize];
  const auto integer_of = [&](const ir::Node& node, std::string_view name, int64_t otherwise) {
    return ir::written_integer(model, node, name).value_or(otherwise);
  };
  return is_same_constant(run, ir::operand(model, quantize, 1), ir::operand(model, dequantize, 1)) &&
         is_same_constant(run, ir::operand(model, quantize, 2), ir::operand(model, dequantize, 2)) &&
         integer_of(first, "axis", 1) == integer_of(second, "axis", 1) &&
         integer_of(first, "block_size", 0) == integer_of(second, "block_size", 0);
}

}  // namespace

void dequantize_constants(passes::PassRun& run, const std::function<bool(ir::NodeId)>& wanted) {
  const ir::Model& model = run.model();
  for (const ir::NodeId node : dequantizers(run)) {
    if (wanted && !wanted(node)) continue;
    const std::vector<ops::Datum> operands = constant_operands(run, node);
    const ops::Operator* op = run.callee(node).op;
    if (operands.empty() || !op || model[node].results.size() != 1 || !model[node].results[0]) continue;
    const auto made = attempt([&] {
      PlainRunner runner;
      return ops::evaluate(run.facts(node), *op, operands, runner, {});
    });
    if (const Error* error = std::get_if<Error>(&made)) {
      run.skip(node, "the reference cannot run it: " + error->line());
      continue;
    }
    ir::Patch patch;
    patch.replace(model[node].results[0], patch.add_constant(std::get<0>(made)[0].tensor()));
    patch.remove(node);
    remove_lone_operands(model, node, patch);
    if (!run.rewriter().commit("the weight as float", patch)) return;
  }
}

void remove_pairs(passes::PassRun& run) {
  const ir::Model& model = run.model();
  for (const ir::NodeId node : dequantizers(run)) {
    const ir::ValueId codes = ir::operand(model, node, 0);
    if (!codes || model[codes].kind != ir::ValueKind::result || model[node].results.empty()) continue;
    const ir::NodeId quantize = model[codes].producer;
    const bool encodes = run.is_standard(quantize) && ops::traits(model, quantize).encodes();
    if (!encodes || model[quantize].graph != model[node].graph) continue;
    const ir::ValueId source = ir::operand(model, quantize, 0);
    const ir::ValueId result = model[node].results[0];
    if (!source || !result || !is_pair(run, quantize, node) || !run.rewriter().can_replace(result, source)) {
      run.skip(node, "its result is not what was quantized");
      continue;
    }
    ir::Patch patch;
    patch.replace(result, source);
    patch.remove(node);
    const bool is_last = !model[codes].first_use->next;
    if (is_last) patch.remove(quantize);
    if (!run.rewriter().commit("no rounding in between", patch)) return;
  }
}

}  // namespace assay::convert
