#include "cli/options/groups/model.h"

#include "cli/log_observer.h"
#include "cli/options/groups/backends.h"

namespace assay::cli {

OptionRow model_positional() {
  return {.names = {"model_file"},
          .metavar = "MODEL",
          .help =
              "the model: an ONNX file, ONNX text (.onnxtxt), a model of TensorFlow (a frozen graph, the folder of a "
              "SavedModel, .tflite), or `-` for standard input",
          .is_file = true,
          .required = true};
}

OptionRow optional_model_positional() {
  OptionRow row = model_positional();
  row.required = false;
  row.arity = Arity::optional;
  return row;
}

OptionRow models_positional(bool is_required) {
  OptionRow row = model_positional();
  row.required = is_required;
  row.arity = is_required ? Arity::one_or_more : Arity::any;
  row.help =
      "the model: an ONNX file, ONNX text (.onnxtxt), a model of TensorFlow (a frozen graph, the folder of a "
      "SavedModel, .tflite), or `-` for standard input; several of them, or a folder of them, are taken one after the "
      "other";
  return row;
}

OptionGroup model_group() {
  return {
      .title = "Model",
      .description = "Options about the model",
      .rows = {{.names = {"--model-type"},
                .choices = {"onnx", "engine", "trt-network-script", "frozen", "keras", "ckpt", "uff", "caffe"},
                .help = "the kind of the model, regardless of its name",
                .details = "onnx, engine (by `run`), trt-network-script, which needs the Python package, and frozen, "
                           "which is any model of TensorFlow, can be loaded; the other kinds are known so that they "
                           "are refused with a reason."},
               {.names = {"--trt-network-func-name", "--trt-network-func"},
                .metavar = "NAME",
                .help = "the function of a network script (FILE.py) that draws the network; default: load_network"},
               {.names = {"--signature"},
                .metavar = "NAME",
                .help = "the signature of a SavedModel or a TFLite file that names inputs and outputs; default: "
                        "serving_default, or the only one"},
               {.names = {"--tf-outputs"},
                .arity = Arity::any,
                .metavar = "NAME",
                .help =
                    "outputs of a model of TensorFlow, by name, or values of its graph (node, or node:1) that are to "
                    "be outputs; default: those of the signature, or values that nothing uses"}},
  };
}

OptionGroup onnx_load_group() {
  return {
      .title = "ONNX Model Loading",
      .description = "Options about loading ONNX models",
      .rows = {{.names = {"--external-data-dir", "--load-external-data", "--ext"},
                .metavar = "FOLDER",
                .help = "where the files with the model's external data are; default: the model's folder",
                .is_file = true},
               {.names = {"--ignore-external-data"},
                .arity = Arity::flag,
                .help = "load the structure only and leave weights outside the model file unread"}},
  };
}

tasks::ModelSource model_source(const std::string& path, const Arguments& arguments) {
  const std::string function = arguments.value("--trt-network-func-name");
  return {.path = function.empty() ? path : path + ":" + function,
          .type = arguments.value("--model-type"),
          .external_folder = arguments.value("--external-data-dir"),
          .ignore_external_data = arguments.flag("--ignore-external-data"),
          .signature = arguments.value("--signature"),
          .graph_outputs = arguments.values("--tf-outputs"),
          .python = library_search(arguments).python};
}

tasks::LoadedModel load_model(const std::string& path, const Arguments& arguments, Environment& environment) {
  LogObserver observer(arguments, environment);
  return tasks::load_model(model_source(path, arguments), observer);
}

void print_findings(const Diagnostics& findings, const Arguments& arguments, Environment& environment) {
  LogObserver observer(arguments, environment);
  tasks::tell_findings(findings, observer);
}

}  // namespace assay::cli
