#include "lint/lint.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/fitting_shapes.h"
#include "analysis/input_roles.h"
#include "base/error.h"
#include "base/stopwatch.h"
#include "remote/isolated_backend.h"
#include "tasks/check.h"
#include "tasks/check/node_errors.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

// Some minutes at most; a model that takes longer is checked as far as that.
constexpr uint64_t kMostSteps = 1'000'000;
constexpr uint64_t kMostWork = 100'000'000'000;

// Notes the shapes that were found here, and those that the user chose.
void note_shapes(const ir::Model& model, const exec::GenerateOptions& options,
                 const std::vector<exec::InputShape>& found, lint::RunInputs& inputs) {
  const exec::Signature signature = exec::signature_of(model);
  for (const ops::InputDatum& input : inputs.data) {
    const exec::Port* const port = exec::find_port(signature.inputs, model.text(model[input.value].name));
    const bool is_found = std::ranges::find(found, port->name, &exec::InputShape::pattern) != found.end();
    if (is_found || !exec::asked_shape(*port, options)) {
      inputs.with_made_shape.push_back(input.value);
    } else if (port->type && port->type->kind == ir::TypeKind::tensor) {
      inputs.given.emplace(input.value, ops::type_of(input.datum));
    }
  }
}

lint::RunInputs generated_inputs(const LoadedModel& loaded, const InputRequest& request,
                                 const ops::InterpreterOptions& limits, Observer& observer) {
  const ir::Model& model = loaded.model;
  InputRequest fitting = request;
  exec::GenerateOptions& options = fitting.generated;
  options.roles = analysis::input_roles(model);
  std::vector<exec::InputShape> found;
  if (lint::is_sound(loaded.findings)) found = analysis::fitting_shapes(model, options, limits);
  options.shapes.insert(options.shapes.begin(), found.begin(), found.end());
  Diagnostics notes;
  lint::RunInputs inputs{.data = first_inputs(model, make_inputs(model, fitting, observer, notes), notes)};
  inputs.has_made_values = true;
  note_shapes(model, request.generated, found, inputs);
  return inputs;
}

// Data for the model's inputs; none where it cannot be made.
std::optional<lint::RunInputs> inputs_of(const LoadedModel& loaded, const InputRequest& request,
                                         const ops::InterpreterOptions& limits, Observer& observer) {
  if (!request.is_generated()) {
    Diagnostics notes;
    const InputData data = make_inputs(loaded.model, request, observer, notes);
    return lint::RunInputs{.data = first_inputs(loaded.model, data, notes)};
  }
  auto made = attempt([&] { return generated_inputs(loaded, request, limits, observer); });
  if (const Error* error = std::get_if<Error>(&made)) {
    if (error->code() == ErrorCode::usage || error->code() == ErrorCode::cancelled) throw *error;
    observer.warning(fmt::format("the model is not run: {}", error->line()));
    return std::nullopt;
  }
  return std::move(std::get<lint::RunInputs>(made));
}

}  // namespace

results::LintReport lint(const LintRequest& request, Observer& observer) {
  const TaskThreads threads(request.threads);
  LoadedModel loaded = load_model(request.model, observer);
  const Stopwatch checking;
  ops::InterpreterOptions limits;
  limits.max_memory_bytes = request.max_memory_bytes;
  limits.max_steps = request.max_steps ? request.max_steps : kMostSteps;
  limits.max_work = request.max_work ? request.max_work : kMostWork;
  const std::optional<lint::RunInputs> inputs =
      request.is_static ? std::nullopt : inputs_of(loaded, request.inputs, limits, observer);
  if (request.is_static) tell_unused_inputs(request.inputs, observer);
  check_cancelled(observer);
  results::LintReport report = lint::lint_model(loaded.model, loaded.findings, inputs, limits);
  if (inputs && !request.told_by.empty() && lint::is_sound(loaded.findings)) {
    const exec::BackendPtr backend = remote::safe_backend(request.told_by, request.search);
    if (!backend->library(request.search).path.empty()) {
      tell_in_words_of(*backend, request.search, loaded.model, *inputs, limits, report);
    }
  }
  report.path = request.model.path;
  report.timings = {{"load_seconds", loaded.load_seconds}, {"lint_seconds", checking.seconds()}};
  return report;
}

}  // namespace assay::tasks
