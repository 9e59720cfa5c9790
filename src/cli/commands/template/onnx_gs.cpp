#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/run.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/template/script.h"
#include "ir/selection.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHints = R"(
# Edit the graph here. Some things that can be done:
#
#   for node in graph.nodes:                            # walk over the nodes
#       print(node.name, node.op, node.attrs)
#   tensors = graph.tensors()                           # all tensors by name
#   tensors["x"].shape = [1, 3, 224, 224]
#   node.inputs[1] = gs.Constant("w", values=array)     # replace a weight by a numpy array
#   graph.nodes.append(gs.Node("Relu", inputs=[a], outputs=[b]))
#   graph.outputs = [tensors["y"]]                      # cut the graph
#   graph.fold_constants()

)";

std::string updated_path(const fs::path& path) {
  return (path.parent_path() / (path.stem().string() + "_updated" + path.extension().string())).string();
}

// The lines that set the outputs as the options say; none where they stay.
std::string output_lines(const Arguments& arguments, const ir::Model& model, Diagnostics& findings) {
  const ir::OutputSelection selection = parse_outputs(arguments);
  if (selection.is_empty()) return "";
  std::vector<std::string> names;
  for (const ir::ValueId value : ir::select_outputs(model, selection, findings)) {
    names.emplace_back(model.text(model[value].name));
  }
  return fmt::format("tensors = graph.tensors()\ngraph.outputs = [tensors[name] for name in {}]\n", python_list(names));
}

std::string script(const Arguments& arguments, const fs::path& model_path, std::string_view outputs) {
  const bool with_shapes = arguments.flag("--shape-inference");
  std::string text =
      "#!/usr/bin/env python3\n# Loads an ONNX model as a graph that can be edited, and saves it next to the "
      "model.\n\nimport onnx\nimport onnx_graphsurgeon as gs\n\n";
  text += fmt::format("model = onnx.load({})\n", python_string(model_path.string()));
  if (with_shapes) text += "model = onnx.shape_inference.infer_shapes(model)\n";
  text += "graph = gs.import_onnx(model)\n";
  text += outputs;
  text += kHints;
  text += fmt::format("graph.cleanup().toposort()\nonnx.save(gs.export_onnx(graph), {})\n",
                      python_string(updated_path(model_path)));
  return text;
}

int run_template_onnx_gs(const Arguments& arguments, Environment& environment) {
  const std::string path = arguments.value("model_file");
  if (path == "-") fail(ErrorCode::usage, "the script has to name the model: it cannot come from standard input");
  tasks::LoadedModel loaded = load_model(path, arguments, environment);
  const std::string outputs = output_lines(arguments, loaded.model, loaded.findings);
  print_findings(loaded.findings, arguments, environment);
  write_script(arguments.value("--output"), script(arguments, absolute_path(path).lexically_normal(), outputs),
               environment);
  return kExitEqual;
}

OptionGroup script_group() {
  return {.title = "Script",
          .description = "What is written",
          .rows = {script_output_row(),
                   {.names = {"--shape-inference", "--do-shape-inference"},
                    .arity = Arity::flag,
                    .help = "infer shapes when the script loads the model"},
                   no_onnxruntime_row(),
                   {.names = {"--input-shapes", "--inputs"},
                    .arity = Arity::one_or_more,
                    .metavar = "NAME:[DIM,...]",
                    .help = "accepted, without effect on the script",
                    .hidden = true}}};
}

}  // namespace

Command command_template_onnx_gs() {
  return {
      .path = "template onnx-gs",
      .summary = "write a Python script that loads a model for editing with ONNX GraphSurgeon",
      .description =
          "The script loads the model, applies the outputs that are chosen here, has a place for edits, and saves the "
          "result next to the model as NAME_updated.onnx. It needs the Python packages onnx and onnx_graphsurgeon.",
      .positionals = {model_positional()},
      .groups = {logging_group(), model_group(), onnx_load_group(), output_group(), script_group()},
      .run = run_template_onnx_gs,
      .examples = {"assay template onnx-gs model.onnx -o edit.py"}};
}

}  // namespace assay::cli
