#include "cli/options/groups/run.h"

#include "base/error.h"
#include "cli/options/groups/data.h"

namespace assay::cli {
namespace {

OptionGroup saved_files_group() {
  const auto file = [](std::vector<std::string_view> names, Arity arity, std::string_view help) {
    return OptionRow{.names = std::move(names),
                     .arity = arity,
                     .metavar = "FILE",
                     .help = help,
                     .is_file = true,
                     .is_output = arity == Arity::one};
  };
  return {
      .title = "Saved Data",
      .description =
          "Inputs and outputs in files: JSON as the peer writes it, .npz, .npy, .safetensors, .raw; a path that ends "
          "in / is a folder with one file per iteration",
      .rows = {file({"--save-inputs", "--save-input-data"}, Arity::one, "save the inputs of all iterations"),
               {.names = {"--save-input-blob"},
                .arity = Arity::optional,
                .metavar = "FOLDER",
                .help = "save the raw bytes of each input below this folder; default: the current one"},
               file({"--load-outputs", "--load-results"}, Arity::one_or_more,
                    "saved outputs, compared like further runs after the backends"),
               file({"--save-outputs", "--save-results"}, Arity::one,
                    "save the outputs of all backends and iterations")},
  };
}

}  // namespace
OptionGroup output_group() {
  return {
      .title = "Outputs",
      .description = "Which values of the model are computed and compared",
      .rows =
          {
              {.names = {"--onnx-outputs"},
               .arity = Arity::one_or_more,
               .metavar = "NAME",
               .help = "values to use instead of the model's outputs; names may be wildcards; `mark all`: every value"},
              {.names = {"--onnx-outputs-by-type"},
               .arity = Arity::one_or_more,
               .metavar = "OP",
               .help = "the outputs of all nodes of these operators"},
              {.names = {"--onnx-exclude-outputs", "--exclude-outputs"},
               .arity = Arity::one_or_more,
               .metavar = "NAME",
               .help = "values to exclude from them; names may be wildcards"},
          },
      .spellings = {{.option = "--mark-all", .words = {"--onnx-outputs", "mark", "all"}}},
  };
}

ir::OutputSelection parse_outputs(const Arguments& arguments, std::string_view prefix) {
  const auto words = [&](std::string_view option) { return arguments.values(fmt::format("--{}{}", prefix, option)); };
  ir::OutputSelection selection;
  selection.names = words("outputs");
  selection.is_everything = selection.names == std::vector<std::string>{"mark", "all"};
  if (selection.is_everything) selection.names.clear();
  selection.op_types = words("outputs-by-type");
  selection.excluded = words("exclude-outputs");
  return selection;
}

OptionGroup inference_group() {
  return {
      .title = "Inference",
      .description = "How often and how the model is run",
      .rows =
          {{.names = {"--save-onnx"},
            .metavar = "FILE",
            .help = "save the model with the chosen outputs",
            .is_file = true,
            .is_output = true},
           {.names = {"--fp-to-fp16"},
            .arity = Arity::flag,
            .help = "convert the model to float16 first; its inputs and outputs keep their types"},
           {.names = {"--iterations", "--iters"},
            .metavar = "N",
            .default_value = "1",
            .help = "number of generated sets of inputs, each with its own seed"},
           {.names = {"--warm-up"},
            .metavar = "N",
            .default_value = "0",
            .help = "runs before the first one that counts"},
           {.names = {"--sequential-runners"},
            .arity = Arity::flag,
            .help = "let each run do all iterations before the next one starts"},
           {.names = {"--isolate", "--use-subprocess"},
            .arity = Arity::flag,
            .help = "run each backend in a process of its own: if it dies or hangs, that is reported as its failure"},
           {.names = {"--timeout"}, .metavar = "SECONDS", .help = "with --isolate: the longest that one run may take"},
           {.names = {"--jobs"},
            .metavar = "N",
            .help = "with --isolate: how many backends run at a time; default: 1"}},
      .spellings = {{.option = "--warm-up-runs", .value = "*", .words = {"--warm-up", "{}"}}},
  };
}

OptionGroup saved_data_group() {
  OptionGroup group = saved_files_group();
  std::vector<OptionRow> rows = saved_input_rows();
  group.rows.insert(group.rows.begin(), rows.begin(), rows.end());
  return group;
}

OptionGroup postprocess_group() {
  return {
      .title = "Post-processing",
      .description = "What is done with outputs before they are compared, and how else they are judged",
      .rows = {{.names = {"--postprocess", "--postprocess-func"},
                .arity = Arity::one_or_more,
                .metavar = "[NAME:]top-K[,axis=N]",
                .help = "replace outputs by the indices of their K largest values along an axis; default: the last"},
               {.names = {"--postprocess-func-script"},
                .metavar = "FILE[:FUNCTION]",
                .help = "Python script (default function postprocess_outputs) that changes the outputs",
                .is_file = true},
               {.names = {"--compare-func-script"},
                .metavar = "FILE[:FUNCTION]",
                .help = "Python script (default function compare_outputs) that judges two iterations",
                .is_file = true},
               {.names = {"--check-average"},
                .arity = Arity::flag,
                .help = "judge each output by its metrics averaged over all iterations"},
               {.names = {"--validate"}, .arity = Arity::flag, .help = "fail if an output holds NaN or infinity"}},
  };
}

OptionGroup report_group() {
  const auto file = [](std::string_view name, std::string_view metavar, std::string_view help) {
    return OptionRow{
        .names = {name}, .metavar = metavar, .help = help, .is_file = true, .is_output = metavar == "FILE"};
  };
  return {
      .title = "Further Reports",
      .description = "The result in other forms",
      .rows =
          {file("--report", "FILE", "write one self-contained HTML page"),
           file("--junit", "FILE", "write the verdicts as JUnit XML"),
           file("--save-accuracy-results", "FILE", "write the metrics as JSON of the peer, for `check accuracy`"),
           {.names = {"--gen-script", "--gen"},
            .metavar = "FILE",
            .help = "write a Python script that does the same over the package assay, instead of running",
            .is_file = true,
            .is_output = true},
           file("--save-heatmaps", "FOLDER", "draw the differences of each output as PNG heat maps"),
           {.names = {"--show-heatmaps"}, .arity = Arity::flag, .help = "the same in a temporary folder; prints paths"},
           file("--save-error-metrics-plot", "FOLDER", "plot the differences of each output over its magnitude as PNG"),
           {.names = {"--show-error-metrics-plot"},
            .arity = Arity::flag,
            .help = "the same in a temporary folder; prints paths"}},
  };
}

}  // namespace assay::cli
