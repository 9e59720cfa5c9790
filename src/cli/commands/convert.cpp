#include <string>
#include <vector>

#include "base/error.h"
#include "cli/convert/conversion.h"
#include "cli/convert/target.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/config_script.h"
#include "cli/options/groups/engine.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/model_output.h"
#include "cli/options/groups/onnx_save.h"
#include "cli/options/groups/passes.h"
#include "cli/options/groups/run.h"
#include "cli/options/groups/shape_inference.h"
#include "report/json_reports.h"
#include "tasks/inspect.h"

namespace assay::cli {
namespace {

// Backends that measure; the reference, which does too, has no settings.
std::vector<std::string> measuring_backends() { return {"onnxrt", "openvino"}; }

tasks::ConvertRequest convert_request(const Arguments& arguments, const ConversionTarget& target) {
  tasks::ConvertRequest request;
  request.edit.model = model_source(arguments.value("model_file"), arguments);
  read_opset(arguments, request.edit.model);
  request.edit.output = target.output;
  request.builds_plan = target.is_engine;
  if (target.is_engine && arguments.flag("--tensorrt")) request.builder = "tensorrt";
  request.session = session_options(arguments);
  if (target.is_engine) {
    if (request.builder.empty()) {
      read_config_script(arguments, request.edit.model.path, request.session);
    } else if (arguments.has("--trt-config-script")) {
      fail(ErrorCode::unsupported, "--trt-config-script: it configures the built-in engine, and TensorRT builds");
    }
    add_default_profile(arguments, request.session);
  } else {
    if (arguments.has("--trt-config-script")) fail(ErrorCode::usage, "--trt-config-script: no engine is built");
    // These settings say what the model becomes, and not how the backend that measures it computes.
    for (const std::string_view name : {"bf16", "fp16", "fp8", "int8", "layer-precisions", "precision-constraints"})
      request.session.settings.erase(name);
  }
  request.edit.save = save_options(arguments, request.edit.output);
  request.infers = arguments.flag("--shape-inference");
  request.outputs = parse_outputs(arguments);
  request.interface_types = parse_interface_types(arguments);
  check_input_data(arguments);
  request.inputs = input_request(arguments);
  for (const Conversion& conversion : conversions()) {
    const Target kind = target.is_engine ? Target::engine : Target::onnx;
    if (!conversion.suffix(arguments, kind).empty()) conversion.request(arguments, request);
  }
  request.last_step = last_step(arguments);
  request.explains = arguments.flag("--explain");
  return request;
}

int run_convert(const Arguments& arguments, Environment& environment) {
  LogObserver observer(arguments, environment);
  if (arguments.flag("--shape-inference")) tell_inference_as_there(arguments, environment);
  refuse_absent_options(engine_convert_group(), arguments);
  const ConversionTarget target = conversion_target(arguments);
  if (!arguments.flag("--tensorrt")) {
    for (const std::string& note : unused_settings(arguments, measuring_backends())) environment.log.warning(note);
  } else if (!target.is_engine) {
    fail(ErrorCode::usage, "--tensorrt builds an engine, and the output is an ONNX model");
  }
  if (target.is_network) {
    tasks::save_network(model_source(arguments.value("model_file"), arguments), target.output,
                        save_options(arguments, target.output), observer);
    return kExitEqual;
  }
  const tasks::ConvertRequest request = convert_request(arguments, target);
  if (arguments.has("--save-statistics")) {
    tasks::save_statistics(request, arguments.value("--save-statistics"), observer);
    return kExitEqual;
  }
  const results::ConversionReport report = tasks::convert(request, observer).report;
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  return kExitEqual;
}

OptionGroup target_group() {
  return {.title = "Target",
          .description = "What the model is converted to",
          .rows = {{.names = {"--convert-to"},
                    .choices = {"onnx", "trt", "onnx-like-trt-network"},
                    .help = "the kind of the output; by default its name decides: .onnx, .engine, .plan",
                    .details = "`onnx-like-trt-network` writes the layers that the engine makes of the model, for "
                               "viewers of ONNX models."}}};
}

// The Python is named where calibration asks for inputs.
OptionGroup build_by_tensorrt_group() {
  return without_python(
      tensorrt_group("build an engine of the user's TensorRT or TensorRT-RTX, which the latter does without a GPU"));
}

std::vector<OptionGroup> groups() {
  std::vector<OptionGroup> all = {logging_group(), model_group(),     onnx_load_group(), shape_inference_group(),
                                  output_group(),  interface_group(), target_group(),    model_output_group()};
  all[1].rows.push_back(opset_row());
  for (const Conversion& conversion : conversions()) {
    for (OptionGroup& group : conversion.groups()) all.push_back(std::move(group));
  }
  all.push_back({.title = "Steps", .description = "Each layer is one, also each change before", .rows = step_rows()});
  for (OptionGroup& group : std::vector{engine_build_group(), build_by_tensorrt_group(), onnx_save_group(),
                                        limits_group(), json_group(), config_script_group(), engine_convert_group()}) {
    all.push_back(std::move(group));
  }
  return all;
}

}  // namespace

Command command_convert() {
  return {
      .path = "convert",
      .summary = "convert a model to another precision or form, or build an engine",
      .description =
          "Writes an ONNX model again, in another precision (`--fp-to-fp16`, `--fp-to-bf16`, `--int8`, `--weights`), "
          "with other outputs, or with inferred shapes; or builds an engine of such a model, a plan for this machine "
          "that "
          "`run` loads. The name of the output decides. Without --output the result is written next to the model, as "
          "MODEL.engine or, for another precision, MODEL.fp16.onnx; with a folder as --output, in it under that name. "
          "Several models, or those of a folder, are converted one after the other. Exit status: 0 the model is "
          "written, 2 wrong usage "
          "or input, 3 something is not supported, or a backend failed.",
      .positionals = {models_positional(true)},
      .groups = groups(),
      .run = run_convert,
      .examples = {"assay convert model.onnx --fp-to-fp16 -o half.onnx",
                   "assay convert model.onnx -o model.engine --trt-min-shapes x:[1,8] --trt-opt-shapes x:[4,8] "
                   "--trt-max-shapes x:[16,8]",
                   "assay convert model.onnx --int8 --load-inputs inputs.json -o int8.onnx",
                   "assay convert models/ --fp-to-fp16 -o half/"},
      .takes_models = true};
}

}  // namespace assay::cli
