#include "cli/options/groups/model.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/options/groups/engine.h"
#include "cli/output_files.h"
#include "onnx/load.h"

namespace assay::cli {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kExportTensorFlow = "TensorFlow models are not supported; export the model to ONNX";

// What a file is by its name, and why it cannot be loaded where that is so.
struct ModelKind {
  std::string_view extension;
  std::string_view type;
  std::string_view refusal;
};

constexpr std::array kModelKinds = {
    ModelKind{".engine", "engine", kNoEngine},
    ModelKind{".plan", "engine", kNoEngine},
    ModelKind{".py", "trt-network-script", kNoEngine},
    ModelKind{".pb", "frozen", kExportTensorFlow},
    ModelKind{".graphdef", "frozen", kExportTensorFlow},
    ModelKind{".hdf5", "keras", kExportTensorFlow},
    ModelKind{"", "ckpt", kExportTensorFlow},
    ModelKind{".uff", "uff", "UFF models are not supported"},
    ModelKind{".caffemodel", "caffe", "Caffe models are not supported"},
};

fs::path external_folder(const std::string& path, const Arguments& arguments) {
  const std::string named = arguments.value("--external-data-dir");
  return named.empty() ? fs::path(path).parent_path() : fs::path(named);
}

void refuse_other_kinds(const std::string& path, const std::string& type) {
  if (type == "onnx") return;
  const size_t colon = path.rfind(":");
  const std::string file = path.substr(0, path.find(".py:") == std::string::npos ? path.size() : colon);
  const std::string extension = to_lower(fs::path(file).extension().string());
  for (const ModelKind& kind : kModelKinds) {
    const bool fits = type.empty() ? !kind.extension.empty() && kind.extension == extension : kind.type == type;
    if (fits) fail(ErrorCode::unsupported, "`{}` is a model of type {}: {}", printable(path), kind.type, kind.refusal);
  }
}

}  // namespace

OptionRow model_positional() {
  return {.names = {"model_file"},
          .metavar = "MODEL",
          .help = "the model: an ONNX file, ONNX text (.onnxtxt), or `-` for standard input",
          .is_file = true,
          .required = true};
}

OptionRow optional_model_positional() {
  OptionRow row = model_positional();
  row.required = false;
  row.arity = Arity::optional;
  return row;
}

OptionGroup model_group() {
  return {
      .title = "Model",
      .description = "Options about the model",
      .rows = {{.names = {"--model-type"},
                .choices = {"onnx", "engine", "trt-network-script", "frozen", "keras", "ckpt", "uff", "caffe"},
                .help = "what kind of model it is, whatever its name says",
                .details = "Only onnx can be loaded by this build; the other kinds are known so that they are refused "
                           "with a reason."}},
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

onnx::LoadOptions load_options(const Arguments& arguments) {
  onnx::LoadOptions options;
  options.external_folder = arguments.value("--external-data-dir");
  options.ignore_external_data = arguments.flag("--ignore-external-data");
  options.is_onnx = arguments.value("--model-type") == "onnx";
  return options;
}

LoadedModel load_model(const std::string& path, const Arguments& arguments, Environment& environment) {
  const std::string type = arguments.value("--model-type");
  refuse_other_kinds(path, type);
  environment.log.info("Loading model: " +
                       printable(path == "-" ? path : absolute_path(path).lexically_normal().string()));
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  Diagnostics findings;
  ir::Model model = onnx::load(path, load_options(arguments), findings);
  if (path != "-") check_external_files(arguments, model, external_folder(path, arguments));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  return {std::move(model), std::move(findings), taken.count()};
}

void require_runnable(const LoadedModel& loaded) {
  for (const Diagnostic& finding : loaded.findings.all()) {
    if (finding.severity != Severity::error) continue;
    const size_t more = loaded.findings.error_count() - 1;
    fail(ErrorCode::parse, "the model cannot be run: {}{}{}{} (`check lint` lists everything)", finding.node,
         finding.node.empty() ? "" : ": ", finding.message, more ? fmt::format(", and {} more", more) : "");
  }
}

void print_findings(const Diagnostics& findings, Environment& environment) {
  std::set<std::string_view> printed;
  for (const Diagnostic& finding : findings.all()) {
    if (printed.insert(finding.message).second) environment.log.warning(finding.message);
  }
  if (findings.dropped() > 0) {
    environment.log.warning(fmt::format("{} more findings are not shown", findings.dropped()));
  }
}

}  // namespace assay::cli
