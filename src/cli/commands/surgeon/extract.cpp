#include "base/error.h"
#include "cli/edit/boundary_words.h"
#include "cli/edit/edit_command.h"
#include "cli/options/groups/input_data.h"
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

tasks::TypeSource type_source(const Arguments& arguments) {
  const bool observes = arguments.flag("--force-fallback-shape-inference");
  if (arguments.flag("--shape-inference") && observes) {
    fail(ErrorCode::usage, "--shape-inference and --force-fallback-shape-inference exclude each other");
  }
  if (observes) return tasks::TypeSource::observed;
  return arguments.flag("--shape-inference") ? tasks::TypeSource::inferred : tasks::TypeSource::declared;
}

int run_surgeon_extract(const Arguments& arguments, Environment& environment) {
  tasks::ExtractRequest request;
  request.edit = edit_request(arguments, "extracted");
  request.extraction = parse_extraction(arguments);
  request.types = type_source(arguments);
  check_input_data(arguments, kShapeOption);
  request.inputs = input_request(arguments, kShapeOption);
  return run_edit(arguments, environment, [&](tasks::Observer& observer) { return tasks::extract(request, observer); });
}

OptionGroup extraction_group() {
  return {.title = "Extraction",
          .description = "Between which tensors the model is cut",
          .rows = {{.names = {"--inputs"},
                    .arity = Arity::one_or_more,
                    .repeat = Repeat::append,
                    .metavar = "NAME[:SHAPE:TYPE]",
                    .help = "the new inputs, in this order; default: those of the model",
                    .details = "As `x`, `x:auto:auto` or `x:[1,3,-1,'width']:float32`: -1 is a dynamic dim, a word a "
                               "symbolic one; `auto` and omitted parts are taken from the model."},
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
      .summary = "extract a part of a model",
      .description =
          "Keeps the nodes between the inputs and the outputs. Any tensor of the main graph can become an input or an "
          "output; nodes with bodies keep what the bodies use from outside. Types and shapes that are not given are "
          "those of the model; where it has none they are inferred, and where that fails the model is run once on "
          "generated inputs. Outputs that need more than the given inputs are an error that names what is missing, and "
          "what completes the cut.",
      .positionals = {model_positional()},
      .groups = edit_groups({extraction_group(), inference_group(),
                             input_data_group({kShapeOption, "--model-inputs", "--input-shapes"}, true)}),
      .run = run_surgeon_extract,
      .examples = {"assay surgeon extract model.onnx --inputs x:[1,3,224,224]:float32 --outputs y:auto -o part.onnx"}};
}

}  // namespace assay::cli
