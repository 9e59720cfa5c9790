#include "lint/check.h"

namespace assay::lint {
namespace {

// Runs the whole model on the reference; every node whose inputs are there is tried, whatever failed before.
void look_at_run(const Subject& subject, Findings& findings) {
  const ir::Model& model = subject.model;
  if (!subject.inputs || !subject.is_sound) return;
  ops::Interpreter interpreter(model, subject.limits);
  const auto note_failure = [&](ir::NodeId node, const Error& error) {
    const bool is_reported = findings.is_failing(node) || error.code() == ErrorCode::unsupported;
    // What a run may not take is no fault of the model.
    const bool is_limit = error.code() == ErrorCode::limit;
    const LintLevel level = is_limit ? LintLevel::warning : LintLevel::exception;
    if (is_reported) return true;
    findings.add(level, kReference, is_limit ? "limit" : "run", node, error.line()).remedy = error.remedy();
    return true;
  };
  const ops::FailureSink failures(note_failure);
  std::vector<ir::ValueId> results;
  for (const ir::NodeId id : ir::nodes(model, model.main_graph())) {
    for (const ir::ValueId value : model[id].results) {
      if (value.valid()) results.push_back(value);
    }
  }
  const auto note_value = [&](ir::ValueId value, const tensor::Datum&) {
    if (model[value].producer.valid()) findings.pass(model[value].producer);
  };
  interpreter.run(*subject.inputs, results, note_value, &failures);
}

}  // namespace

Check check_run() {
  return {"failures that only data shows: the model is run on the reference", 30, {{.at_model = look_at_run}}};
}

}  // namespace assay::lint
