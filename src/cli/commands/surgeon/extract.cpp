#include "surgery/extract.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/edit/boundary_words.h"
#include "cli/edit/edit_job.h"
#include "cli/edit/observed_types.h"
#include "cli/input_data.h"
#include "cli/options/groups/shape_inference.h"

namespace assay::cli {
namespace {

constexpr std::string_view kShapeOption = "--model-input-shapes";

surgery::Extraction parse_extraction(const Arguments& arguments) {
  surgery::Extraction extraction;
  for (const std::string& word : arguments.values("--inputs")) {
    extraction.inputs.push_back(parse_input_boundary("--inputs", word));
  }
  for (const std::string& word : arguments.values("--outputs")) {
    extraction.outputs.push_back(parse_output_boundary("--outputs", word));
  }
  return extraction;
}

// Completes the types at the boundary: by inference, and where that does not tell, by a run.
void complete_types(EditJob& job, const surgery::Extraction& extraction, const Arguments& arguments) {
  const std::vector<ir::ValueId> boundary = surgery::boundary_values(job.model(), extraction);
  const bool is_forced = arguments.flag("--force-fallback-shape-inference");
  const bool is_inferred = arguments.flag("--shape-inference");
  if (is_inferred || (!is_forced && surgery::is_open(job.model(), extraction))) {
    if (!is_inferred) job.log().info("The model does not say all types and shapes that are asked for; inferring them");
    infer_shapes(job.loaded());
    job.log().verbose("Shape inference completed successfully");
  }
  if (!is_forced && !surgery::is_open(job.model(), extraction)) return;
  std::vector<ir::ValueId> wanted;
  for (const ir::ValueId value : boundary) {
    const ir::TypeId type = value ? job.model()[value].type : ir::TypeId();
    const bool is_known = type && (job.model()[type].kind != ir::TypeKind::tensor || job.model()[type].ranked);
    if (value && (is_forced || !is_known)) wanted.push_back(value);
  }
  const auto observe = [&] {
    const InputData data = input_data(job.model(), arguments, job.environment(), job.findings(), kShapeOption);
    observe_types(job.loaded(), wanted, data);
  };
  if (is_forced) return observe();
  try {  // what stays open is said later
    observe();
  } catch (const Error& error) {
    job.findings().warn("fallback", "", "the model could not be run for its types: " + error.line());
  }
}

void report(EditJob& job) {
  const ir::Model& model = job.model();
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    job.changed("input", std::string(model.text(model[input].name)), "");
  }
  for (const ir::Use& output : model.outputs(model.main_graph())) {
    if (output.value) job.changed("output", std::string(model.text(model[output.value].name)), "");
  }
}

int run(const Arguments& arguments, Environment& environment) {
  EditJob job("surgeon extract", "extracted", arguments, environment);
  const surgery::Extraction extraction = parse_extraction(arguments);
  if (arguments.flag("--shape-inference") && arguments.flag("--force-fallback-shape-inference")) {
    fail(ErrorCode::usage, "--shape-inference and --force-fallback-shape-inference exclude each other");
  }
  check_input_data(arguments, kShapeOption);
  ir::Model& model = job.load();
  complete_types(job, extraction, arguments);
  surgery::extract(model, extraction, job.findings());
  report(job);
  return job.save();
}

OptionGroup extraction_group() {
  return {.title = "Extraction",
          .description = "Between which tensors the model is cut",
          .rows = {{.names = {"--inputs"},
                    .arity = Arity::one_or_more,
                    .repeat = Repeat::append,
                    .metavar = "NAME[:SHAPE:TYPE]",
                    .help = "the new inputs, in this order; default: those of the model",
                    .details = "As `x`, `x:auto:auto` or `x:[1,3,-1,'width']:float32`: -1 is a dim that is open, a "
                               "word a symbol; `auto` and what is left out are as the model has it."},
                   {.names = {"--outputs"},
                    .arity = Arity::one_or_more,
                    .repeat = Repeat::append,
                    .metavar = "NAME[:TYPE]",
                    .help = "the new outputs, in this order; default: those of the model"}}};
}

OptionGroup inference_group() {
  OptionGroup group = shape_inference_group();
  group.rows.push_back(fallback_inference_row());
  return group;
}

}  // namespace

Command command_surgeon_extract() {
  return {
      .path = "surgeon extract",
      .summary = "cut a part out of a model",
      .description =
          "Keeps what lies between the inputs and the outputs. Any tensor of the main graph can become an input or "
          "an output; nodes with bodies keep what the bodies use from outside. Types and shapes that are not given "
          "are those of the model; where it says nothing they are inferred, and where that fails the model is run "
          "once on made-up inputs. Outputs that need more than the given inputs are an error that names what is "
          "missing, and what completes the cut.",
      .positionals = {model_positional()},
      .groups = edit_groups({extraction_group(), inference_group(),
                             input_data_group({kShapeOption, "--model-inputs", "--input-shapes"}, true)}),
      .run = run,
      .examples = {"assay surgeon extract model.onnx --inputs x:[1,3,224,224]:float32 --outputs y:auto -o part.onnx"}};
}

}  // namespace assay::cli
