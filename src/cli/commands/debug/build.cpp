#include "cli/debug/debug_command.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/check.h"
#include "cli/options/groups/config_script.h"
#include "cli/options/groups/engine.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/run.h"
#include "cli/options/groups/shape_inference.h"

namespace assay::cli {
namespace {

int run_debug_build(const Arguments& arguments, Environment& environment) {
  refuse_absent_options(engine_debug_group(), arguments);
  tasks::BuildRequest request;
  request.model = model_source(arguments.value("model_file"), arguments);
  request.session = session_options(arguments);
  read_config_script(arguments, request.model.path, request.session);
  add_default_profile(arguments, request.session);
  request.infers = arguments.flag("--shape-inference");
  request.interface = {parse_outputs(arguments), parse_interface_types(arguments)};
  check_input_data(arguments);
  request.check = check_request(arguments, environment);
  // Without other artifacts, the loop keeps the tactics that each build measured.
  if (request.check.artifacts.empty() && arguments.has("--save-tactics"))
    request.check.artifacts = {arguments.value("--save-tactics")};
  request.until = parse_until(arguments);
  request.artifact = arguments.value("--intermediate-artifact");
  request.keeps_artifact = arguments.flag("--no-remove-intermediate");
  return run_loop(arguments, environment, [&](tasks::Observer& observer) {
    if (has_input_data(arguments)) tasks::tell_unused_inputs(input_request(arguments), observer);
    return tasks::debug_build(request, observer);
  });
}

std::vector<OptionGroup> groups() {
  std::vector<OptionGroup> all = {logging_group(), model_group(), onnx_load_group(), shape_inference_group(),
                                  output_group(), interface_group(), input_data_group(),
                                  // each build measures without being asked
                                  engine_settings_group({"--measure-tactics", "--save-engine"}), limits_group(),
                                  json_group(), config_script_group(), engine_debug_group()};
  for (OptionGroup& group : check_groups({.artifact = "polygraphy_debug.engine", .has_until = true})) {
    all.push_back(std::move(group));
  }
  all.back().spellings = {{.option = "--num-iterations", .value = "*", .words = {"--until", "{}"}}};
  return all;
}

}  // namespace

Command command_debug_build() {
  return {.path = "debug build",
          .summary = "build an engine again and again, and check each",
          .description =
              "Builds a plan of the model for the built-in engine, has it checked, sorts what it leaves into "
              "good/ and bad/, and begins again: for faults that some tactics have. `inspect diff-tactics` "
              "then tells which tactics only the bad ones use. Builds measure tactics anew each time, so "
              "they may differ. A plan that cannot be built counts as failed; with `--until good`, ten such plans in a "
              "row end the loop with the error of the last. Without --artifacts, the file of --save-tactics is kept of "
              "each iteration. Exit status: 0 the loop ended "
              "as told, whatever the iterations did, 2 wrong usage or input, 3 a check cannot be run.",
          .positionals = {model_positional()},
          .groups = groups(),
          .run = run_debug_build,
          .examples = {"assay debug build model.onnx --save-tactics replay.json --artifacts replay.json --until 10 "
                       "--check assay run polygraphy_debug.engine --trt --load-outputs golden.json"},
          .exact_names = true};
}

}  // namespace assay::cli
