#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "lint/check.h"
#include "ops/traits.h"

namespace assay::lint {
namespace {

bool same_constant(const tensor::Tensor* a, const tensor::Tensor* b) {
  if (!a || !b) return a == b;
  return a->dtype() == b->dtype() && a->shape() == b->shape() && std::ranges::equal(a->bytes(), b->bytes());
}

void report_quantization(ir::NodeId id, std::string message, Findings& findings) {
  findings.add(LintLevel::warning, kAnalysis, "qdq_not_fusable", id, std::move(message));
}

// A pair disappears into its neighbours only if both ends use the same constant scale and zero point.
void check_pair(const Subject& subject, ir::NodeId quantize, ir::NodeId dequantize, Findings& findings) {
  const ir::Node& q = subject.model[quantize];
  const ir::Node& dq = subject.model[dequantize];
  const auto same_operand = [&](uint32_t i) {
    const auto value = [&](const ir::Node& node) {
      return i < node.operands.size() ? node.operands[i].value : ir::ValueId();
    };
    return value(q) == value(dq) || same_constant(constant_operand(subject, q, i), constant_operand(subject, dq, i));
  };
  if (!same_operand(1))
    report_quantization(dequantize, "its scale differs from that of the QuantizeLinear before it", findings);
  if (!same_operand(2))
    report_quantization(dequantize, "its zero point differs from that of the QuantizeLinear before it", findings);
}

void check_scale(const Subject& subject, ir::NodeId id, Findings& findings) {
  const ir::Node& node = subject.model[id];
  if (node.operands.size() < 2 || !node.operands[1].value.valid()) return;
  if (!constant_operand(subject, node, 1)) report_quantization(id, "its scale is not constant", findings);
}

void check_quantize(const Subject& subject, ir::NodeId id, Findings& findings) {
  const ir::Node& node = subject.model[id];
  check_scale(subject, id, findings);
  if (node.results.empty() || !node.results[0].valid()) return;
  for (const ir::Use& use : ir::uses(subject.model, node.results[0])) {
    const bool is_decoded = !subject.model[use.user].is_outputs && ops::traits(subject.model, use.user).decodes();
    if (is_decoded && use.index == 0) check_pair(subject, id, use.user, findings);
  }
}

// Integer values that only pass through a DequantizeLinear: its consumers decide whether it fuses.
void check_dequantize(const Subject& subject, ir::NodeId id, Findings& findings) {
  const ir::Node& node = subject.model[id];
  check_scale(subject, id, findings);
  if (node.operands.empty() || !node.operands[0].value.valid()) return;
  const ir::Value& source = subject.model[node.operands[0].value];
  const bool is_weight = source.kind == ir::ValueKind::initializer;
  const bool is_pair = source.producer.valid() && ops::traits(subject.model, source.producer).encodes();
  const bool is_input = source.kind == ir::ValueKind::input;
  if (!is_weight && !is_pair && !is_input) {
    report_quantization(id, "it follows neither a QuantizeLinear nor a constant", findings);
  }
}

void report_node(const Subject& subject, ir::NodeId id, Findings& findings) {
  const ops::Traits& traits = ops::traits(subject.model, id);
  if (traits.encodes()) check_quantize(subject, id, findings);
  if (traits.decodes()) check_dequantize(subject, id, findings);
}

}  // namespace

Check check_quantization() {
  return {"QuantizeLinear and DequantizeLinear that cannot be fused with their neighbours",
          80,
          {{.at_node = report_node, .ops = ops::operators_that([](const ops::Traits& traits) {
                                      return traits.encodes() || traits.decodes();
                                    })}}};
}

}  // namespace assay::lint
