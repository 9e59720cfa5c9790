#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "lint/check.h"
#include "lint/made_up.h"

namespace assay::lint {
namespace {

std::string shape_text(const tensor::Datum& datum) {
  return datum.is_tensor() ? fmt::format("[{}]", fmt::join(datum.tensor().shape(), ", ")) : "?";
}

// `x: [1, 3, 16, 16], y: [1]`
std::string made_shapes(const Subject& subject) {
  std::vector<std::string> shapes;
  for (const ops::InputDatum& input : subject.inputs->data) {
    if (std::ranges::find(subject.inputs->with_made_shape, input.value) == subject.inputs->with_made_shape.end())
      continue;
    const std::string_view name = subject.model.text(subject.model[input.value].name);
    shapes.push_back(fmt::format("{}: {}", printable(name), shape_text(input.datum)));
  }
  return join(shapes, ", ");
}

void add_made_up(const Subject& subject, MadeUp cause, ir::NodeId node, const Error& error, Findings& findings) {
  const std::string shapes = cause.shapes ? fmt::format("shapes ({})", made_shapes(subject)) : "";
  const std::string made = !cause.values ? shapes : cause.shapes ? "values and " + shapes : "values";
  findings
      .add(LintLevel::warning, kReference, "made_up_inputs", node,
           fmt::format("with made-up {}: {}", made, error.line()))
      .remedy = cause.shapes ? "real_shapes" : "real_inputs";
}

// A node in one of its bodies has a finding, of which the node's own failure is a consequence.
bool has_failing_body(const ir::Model& model, ir::NodeId node, const Findings& findings) {
  for (const ir::GraphId body : model.bodies(model[node])) {
    for (const ir::NodeId inner : ir::nodes(model, body)) {
      if (findings.is_failing(inner) || has_failing_body(model, inner, findings)) return true;
    }
  }
  return false;
}

// Runs the whole model on the reference; every node whose inputs are there is tried, whatever failed before.
class Run {
 public:
  Run(const Subject& subject, Findings& findings) : subject_(subject), model_(subject.model), findings_(findings) {}

  void run() {
    ops::Interpreter interpreter(model_, subject_.limits);
    const auto note_failure = [this](ir::NodeId node, const Error& error) { return note(node, error); };
    const ops::FailureSink failures(note_failure);
    std::vector<ir::ValueId> results;
    for (const ir::NodeId id : ir::nodes(model_, model_.main_graph())) {
      for (const ir::ValueId value : model_[id].results) {
        if (value.valid()) results.push_back(value);
      }
    }
    const auto note_value = [this](ir::ValueId value, const tensor::Datum&) {
      if (model_[value].producer.valid()) findings_.pass(model_[value].producer);
    };
    interpreter.run(subject_.inputs->data, results, note_value, &failures);
  }

 private:
  bool note(ir::NodeId node, const Error& error) {
    const bool is_reported = findings_.is_failing(node) || has_failing_body(model_, node, findings_);
    if (is_reported || error.code() == ErrorCode::unsupported) return true;
    // A limit of the run is not a fault of the model.
    if (error.code() == ErrorCode::limit) {
      findings_.add(LintLevel::warning, kReference, "limit", node, error.line()).remedy = error.remedy();
      return true;
    }
    if (!made_up_) made_up_.emplace(subject_);
    if (const MadeUp cause = made_up_->behind(node)) {
      add_made_up(subject_, cause, node, error, findings_);
    } else {
      findings_.add(LintLevel::exception, kReference, "run", node, error.line()).remedy = error.remedy();
    }
    return true;
  }

  const Subject& subject_;
  const ir::Model& model_;
  Findings& findings_;
  std::optional<MadeUpValues> made_up_;  // made when a node fails
};

void look_at_run(const Subject& subject, Findings& findings) {
  if (subject.inputs && subject.is_sound) Run(subject, findings).run();
}

}  // namespace

Check check_run() {
  return {"failures that only data shows: the model is run on the reference", 30, {{.at_model = look_at_run}}};
}

}  // namespace assay::lint
