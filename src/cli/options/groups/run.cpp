#include "cli/options/groups/run.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/options/groups/data.h"
#include "cli/options/values.h"

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
              {.names = {"--trt-outputs"},
               .arity = Arity::one_or_more,
               .metavar = "NAME",
               .help = "the same as --onnx-outputs: all backends are asked for the same values"},
              {.names = {"--trt-outputs-by-type"},
               .arity = Arity::one_or_more,
               .metavar = "OP",
               .help = "the same as --onnx-outputs-by-type"},
              {.names = {"--trt-exclude-outputs"},
               .arity = Arity::one_or_more,
               .metavar = "NAME",
               .help = "the same as --onnx-exclude-outputs"},
          },
      .spellings = {{.option = "--mark-all", .words = {"--onnx-outputs", "mark", "all"}}},
  };
}

OptionGroup interface_group() {
  return {.title = "Types of Inputs and Outputs",
          .description = "The model computes as before: Casts are put in between",
          .rows = {{.names = {"--tensor-dtypes", "--tensor-datatypes"},
                    .arity = Arity::one_or_more,
                    .metavar = "NAME:TYPE",
                    .help = "types of single inputs and outputs, as x:float16"},
                   {.names = {"--all-tensor-dtypes", "--all-tensor-datatypes"},
                    .metavar = "TYPE",
                    .help = "the type of all others that are tensors of numbers"}}};
}

std::vector<surgery::InterfaceType> parse_interface_types(const Arguments& arguments) {
  const auto parse = [](std::string_view option, const std::string& word) {
    const std::optional<tensor::DType> dtype = tensor::find_dtype(word);
    if (!dtype || *dtype == tensor::DType::string || *dtype == tensor::DType::undefined) {
      fail(ErrorCode::usage, "{}: `{}` is no type of numbers", option, printable(word));
    }
    return *dtype;
  };
  std::vector<surgery::InterfaceType> types;
  for (const std::string& text : arguments.values("--tensor-dtypes")) {
    const KeyValue parts = split_key_value(text);
    if (parts.key.empty()) fail(ErrorCode::usage, "--tensor-dtypes: expected NAME:TYPE, seen `{}`", printable(text));
    types.push_back({parts.key, parse("--tensor-dtypes", parts.value)});
  }
  if (arguments.has("--all-tensor-dtypes")) {
    types.push_back({"", parse("--all-tensor-dtypes", arguments.value("--all-tensor-dtypes"))});
  }
  return types;
}

ir::OutputSelection parse_outputs(const Arguments& arguments, std::string_view prefix) {
  ir::OutputSelection selection;
  for (const std::string_view source : {prefix, std::string_view("trt-")}) {
    const auto add = [&](std::string_view option, std::vector<std::string>& words) {
      const std::string name = fmt::format("--{}{}", source, option);
      if (!arguments.knows(name)) return;
      const std::vector<std::string> given = arguments.values(name);
      words.insert(words.end(), given.begin(), given.end());
    };
    std::vector<std::string> names;
    add("outputs", names);
    const bool is_everything = names == std::vector<std::string>{"mark", "all"};
    selection.is_everything = selection.is_everything || is_everything;
    if (!is_everything) selection.names.insert(selection.names.end(), names.begin(), names.end());
    add("outputs-by-type", selection.op_types);
    add("exclude-outputs", selection.excluded);
  }
  if (selection.is_everything) selection.names.clear();
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
