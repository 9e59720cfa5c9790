#include "passes/pass.h"

#include "base/error.h"
#include "base/text.h"
#include "ops/call_rules.h"

namespace assay::passes {

ops::Callee PassRun::callee(ir::NodeId node) {
  if (!callees_) callees_.emplace(model_);
  callees_->refresh();
  return (*callees_)[node];
}

bool PassRun::is_op(ir::NodeId node, std::string_view op) {
  return model_.text(model_[node].op) == op && is_standard(node);
}

bool PassRun::is_standard(ir::NodeId node) {
  const ops::Callee found = callee(node);
  if (found.function || !found.schema || !found.schema->domain.empty()) return false;
  const bool has_result = !model_[node].results.empty() && model_[node].results[0].valid();
  return has_result && ops::broken_call_rules({model_, model_[node], found.schema, found.version, nullptr}).empty();
}

bool PassRun::is_refused(ir::NodeId node) {
  const ops::Inference& known = has_inferred_ ? inference_.last() : inference();
  const std::span<const ops::InferenceFinding> findings = known.findings();
  if (findings.size() != findings_seen_) {
    refused_.clear();
    for (const ops::InferenceFinding& finding : findings) {
      if (ops::breaks_rule(finding)) refused_.insert(finding.node);
    }
    findings_seen_ = findings.size();
  }
  return refused_.contains(node);
}

ops::Node PassRun::facts(ir::NodeId node) {
  const ops::Callee found = callee(node);
  return {model_, model_[node], found.schema, found.version, nullptr};
}

const tensor::Tensor* PassRun::constant(ir::ValueId value) {
  if (!value) return nullptr;
  const ir::Value& facts = model_[value];
  if (facts.kind == ir::ValueKind::initializer) {
    return model_[facts.constant].sparse ? nullptr : &model_[facts.constant].tensor;
  }
  if (facts.kind != ir::ValueKind::result || !is_constant_node(model_, facts.producer) || !is_standard(facts.producer))
    return nullptr;
  const ir::Attribute* held = model_.find_attribute(model_[facts.producer], "value");
  return held && !held->is_reference() ? &model_[held->tensors()[0]].tensor : nullptr;
}

const ops::Inference& PassRun::inference() {
  return std::exchange(has_inferred_, true) ? inference_.more() : inference_.now();
}

const ops::Type& PassRun::type(ir::ValueId value) {
  const ops::Inference& known = has_inferred_ ? inference_.last() : inference();
  return known.type(value).known ? known.type(value) : inference().type(value);
}

void PassRun::skip(ir::NodeId node, std::string reason) {
  if (known_skips_.emplace(node, pass_).second) skipped_.push_back({node, pass_, std::move(reason)});
}

Pass find_pass(std::string_view name) {
  std::vector<std::string> names;
  for (const Registered<Pass>& entry : registered_passes()) {
    const Pass pass = entry.make();
    if (pass.name == name) return pass;
    names.emplace_back(pass.name);
  }
  const std::optional<std::string> near = did_you_mean(name, names);
  fail(ErrorCode::usage, "there is no pass `{}`{}", printable(name),
       near ? fmt::format(": did you mean `{}`?", *near) : "; known: " + join(names, ", "));
}

}  // namespace assay::passes
