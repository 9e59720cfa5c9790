#include "cli/run/generation.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/run/settings_words.h"
#include "report/run/text_generation.h"

namespace assay::cli {
namespace {

// Number of the side that has this name.
size_t side_of(const results::RunReport& report, const std::string& runner) {
  return static_cast<size_t>(std::ranges::find(report.runs, runner, &results::RunnerRun::runner) - report.runs.begin());
}

// Empty where a side does not run the model.
std::string command_of(const results::RunReport& report, const tasks::RunRequest& request) {
  const results::GenerationDivergence& first = *report.generation->first_divergence;
  const size_t a = side_of(report, first.runner_a);
  const size_t b = side_of(report, first.runner_b);
  const size_t runs = request.backends.size();
  const bool has_plan = request.plans.contains(a) || request.plans.contains(b);
  if (a >= runs || b >= runs || has_plan || request.model.path.empty()) return {};
  const std::string inputs = first.inputs.empty() ? "step.npz" : first.inputs;
  std::string sides = "--" + request.backends[a];
  if (request.backends[a] != request.backends[b]) sides += " --against " + request.backends[b];
  const bool is_of_prompt = first.step == 0 && !request.generation->prompt_model.empty();
  const std::string& model = is_of_prompt ? request.generation->prompt_model : request.model.path;
  return fmt::format("assay debug accuracy {} {} --load-inputs {}", model, sides, inputs);
}

}  // namespace

void tell_generation(results::RunReport& report, const tasks::RunRequest& request, const Arguments& arguments,
                     Log& log) {
  results::Generation& generation = *report.generation;
  report::print_generation(report, log, log.enabled(LogLevel::verbose), " (-v lists all)");
  if (generation.steps.empty()) return;
  log.verdict(!generation.first_divergence, report::generation_line(report));
  if (!generation.first_divergence) return;
  std::string command = command_of(report, request);
  if (!command.empty()) command += settings_words(arguments);
  const bool is_saved = !generation.first_divergence->inputs.empty();
  if (!command.empty() && !is_saved) {
    log.info("With --save-inputs step.npz, the inputs of that step are saved; then the layer is found by: " +
             printable(command));
  }
  if (command.empty() || !is_saved) return;
  generation.first_divergence->command = command;
  log.info("The layer is found by: " + printable(command));
}

}  // namespace assay::cli
