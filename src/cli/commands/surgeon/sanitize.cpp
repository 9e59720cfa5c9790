#include "base/error.h"
#include "base/text.h"
#include "cli/edit/boundary_words.h"
#include "cli/edit/edit_command.h"
#include "cli/edit/size_bound_words.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/passes.h"
#include "cli/options/groups/run.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

constexpr std::string_view kShapeOption = "--model-input-shapes";

OptionGroup sanitize_group() {
  return {
      .title = "Sanitizing",
      .description = "What is cleaned, sorted and folded",
      .rows =
          {{.names = {"--cleanup"}, .arity = Arity::flag, .help = "remove unused nodes and weights"},
           {.names = {"--toposort"}, .arity = Arity::flag, .help = "sort nodes after those that they depend on"},
           {.names = {"--fold-constants"},
            .arity = Arity::flag,
            .help = "compute what is the same in every run, with the bits of the reference"},
           {.names = {"--num-passes", "--num-const-fold-passes"},
            .metavar = "N",
            .help = "rounds of folding; default: until nothing changes"},
           {.names = {"--fold-size-threshold"},
            .metavar = "SIZE",
            .help = "do not fold results of more bytes",
            .details = "Without it, results stay that have more than 1 MB and more than twice the bytes of what "
                       "they are computed from."},
           {.names = {"--no-fold-shapes"}, .arity = Arity::flag, .help = "do not fold what follows from shapes alone"},
           {.names = {"--partitioning"},
            .choices = {"basic", "recursive"},
            .help = "accepted, without effect: a node that cannot be computed never stops the others"},
           {.names = {"--no-per-pass-shape-inference"},
            .arity = Arity::flag,
            .help = "accepted, without effect: folding infers what it needs"},
           {.names = {"--outputs"},
            .arity = Arity::one_or_more,
            .metavar = "NAME",
            .help = "values to use instead of the model's outputs; names may be wildcards; `mark all`: every value"},
           {.names = {"--outputs-by-type"},
            .arity = Arity::one_or_more,
            .metavar = "OP",
            .help = "the outputs of all nodes of these operators"},
           {.names = {"--exclude-outputs"},
            .arity = Arity::one_or_more,
            .metavar = "NAME",
            .help = "values to exclude from them; names may be wildcards"},
           {.names = {"--fp-to-fp16"},
            .arity = Arity::flag,
            .help = "convert float32 values and weights to float16; inputs and outputs keep their types",
            .details = "`convert --fp-to-fp16` does the same and has more options."},
           {.names = {"--override-input-shapes", "--override-inputs"},
            .arity = Arity::one_or_more,
            .repeat = Repeat::append,
            .metavar = "NAME:SHAPE",
            .help = "override the shapes of inputs, as `x:[1,3,-1,'width']`; dependent shapes are inferred again",
            .details = "A value that is computed can be named too: it becomes an input."},
           {.names = {"--set-unbounded-dds-upper-bound"},
            .arity = Arity::one_or_more,
            .repeat = Repeat::append,
            .metavar = "[NAME:]N",
            .help = "add a Min after values that decide how large a result becomes and that nothing bounds",
            .details = "Without a name, for all of them: `inspect model --list-unbounded-dds` shows which. Done "
                       "after folding."},
           {.names = {"--no-shape-inference"},
            .arity = Arity::flag,
            .help = "do not infer types and shapes before and after"},
           fallback_inference_row(),
           no_onnxruntime_row()},
      .spellings = {{.option = "--mark-all", .words = {"--outputs", "mark", "all"}}},
  };
}

tasks::PassRequest folding_request(const Arguments& arguments) {
  tasks::PassRequest request = pass_request(arguments);
  request.folds = arguments.flag("--fold-constants");
  request.cleans = arguments.flag("--cleanup");
  request.sorts = arguments.flag("--toposort");
  if (arguments.has("--num-passes")) {
    request.most_fold_rounds = parse_count("--num-passes", arguments.value("--num-passes"));
  }
  if (arguments.has("--fold-size-threshold")) {
    request.options.of<passes::FoldOptions>().size_threshold_bytes =
        parse_size("--fold-size-threshold", arguments.value("--fold-size-threshold"), 0);
  }
  request.options.of<passes::FoldOptions>().folds_shapes = !arguments.flag("--no-fold-shapes");
  return request;
}

void warn_of_unused(const Arguments& arguments, Log& log) {
  for (const std::string_view option :
       {"--num-passes", "--fold-size-threshold", "--no-fold-shapes", "--partitioning"}) {
    if (arguments.has(option) && !arguments.flag("--fold-constants")) {
      log.warning(fmt::format("{} does nothing without --fold-constants", option));
    }
  }
}

std::vector<surgery::Boundary> overrides_of(const Arguments& arguments) {
  std::vector<surgery::Boundary> shapes;
  for (const std::string& word : arguments.values("--override-input-shapes")) {
    shapes.push_back(parse_input_boundary("--override-input-shapes", word));
    if (!shapes.back().shape) {
      fail(ErrorCode::usage, "--override-input-shapes: expected NAME:[DIM,...], seen `{}`", printable(word));
    }
  }
  return shapes;
}

tasks::TypeSource type_source(const Arguments& arguments) {
  const bool observes = arguments.flag("--force-fallback-shape-inference");
  if (arguments.flag("--no-shape-inference") && observes) {
    fail(ErrorCode::usage, "--no-shape-inference and --force-fallback-shape-inference exclude each other");
  }
  if (observes) return tasks::TypeSource::observed;
  return arguments.flag("--no-shape-inference") ? tasks::TypeSource::declared : tasks::TypeSource::inferred;
}

int run_surgeon_sanitize(const Arguments& arguments, Environment& environment) {
  tasks::SanitizeRequest request;
  request.passes = folding_request(arguments);
  request.overrides = overrides_of(arguments);
  request.bounds = parse_size_bounds(arguments.values("--set-unbounded-dds-upper-bound"));
  check_input_data(arguments, kShapeOption);
  request.inputs = input_request(arguments, kShapeOption);
  request.types = type_source(arguments);
  request.outputs = parse_outputs(arguments, "");
  request.converts_to_float16 = arguments.flag("--fp-to-fp16");
  request.edit = edit_request(arguments, "sanitized");
  warn_of_unused(arguments, environment.log);
  return run_edit(arguments, environment, [&](tasks::Observer& observer) {
    if (request.types == tasks::TypeSource::inferred) tell_inference_as_there(arguments, environment);
    return tasks::sanitize(request, observer);
  });
}

}  // namespace

Command command_surgeon_sanitize() {
  return {.path = "surgeon sanitize",
          .summary = "fold constants, clean up, sort, and repair a model",
          .description =
              "Folds what is the same in every run, removes unused nodes and sorts the others. Results of the model "
              "stay the same bit for bit. Random nodes, quantisation and results that would make the file much larger "
              "are not folded; -v reports which and why.",
          .positionals = {model_positional()},
          .groups = edit_groups({sanitize_group(), pass_group(),
                                 input_data_group({kShapeOption, "--model-inputs", "--input-shapes"}, true)}),
          .run = run_surgeon_sanitize,
          .examples = {"assay surgeon sanitize model.onnx --fold-constants --cleanup -o clean.onnx",
                       "assay surgeon sanitize model.onnx --simplify --explain -o small.onnx"}};
}

}  // namespace assay::cli
