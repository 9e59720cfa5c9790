#include "cli/options/groups/engine.h"

#include <algorithm>

#include "base/error.h"
#include "cli/options/groups/backends.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

OptionRow refused(std::vector<std::string_view> names, Arity arity) {
  return {.names = std::move(names), .arity = arity, .help = "not supported", .hidden = true};
}

// An option that is recognised and refused, and what is said after its name.
struct AbsentOption {
  std::vector<std::string_view> names;
  Arity arity;
  std::string_view reason = kNoEngineOption;
};

constexpr std::string_view kScript = "--gen-script";  // of `convert` alone
constexpr std::string_view kUnfused = "--mark-unfused-tensors-as-debug-tensors";
constexpr std::string_view kOnlyRunsTell = "runs tell the values between layers: `run --onnx-outputs mark all`";
constexpr std::string_view kOnlyRunWrites = "only `run` writes scripts";
constexpr std::string_view kOpset = "--opset";
constexpr std::string_view kOtherOpset = "it is about TensorFlow models; `surgeon sanitize` has an option for ONNX";
constexpr std::string_view kOthersCalibrate = "only `convert --int8`, `run --int8` and `bench --int8` calibrate";

const std::vector<AbsentOption>& absent_options() {
  static const std::vector<AbsentOption> options = {
      {{kUnfused}, Arity::flag, kOnlyRunsTell},
      {{"--tftrt"}, Arity::flag, kNoTensorFlow},
      {{"--use-tftrt"}, Arity::flag, kNoTensorFlow},
      {{"--xla"}, Arity::flag, kNoTensorFlow},
      {{"--allow-growth"}, Arity::flag, kNoTensorFlow},
      {{"--dynamic-op"}, Arity::flag, kNoTensorFlow},
      {{"--calibration-cache"}, Arity::one, kOthersCalibrate},
      {{"--weights"}, Arity::one},
      {{"--save-tensorboard"}, Arity::one, kNoTensorFlow},
      {{"--save-timeline"}, Arity::one, kNoTensorFlow},
      {{"--gpu-memory-fraction"}, Arity::one, kNoTensorFlow},
      {{kOpset}, Arity::one, kOtherOpset},
      {{"--minimum-segment-size"}, Arity::one, kNoTensorFlow},
      {{"--quantile"}, Arity::one, kOthersCalibrate},
      {{"--regression-cutoff"}, Arity::one, kOthersCalibrate},
      {{"--plugins"}, Arity::any},
      {{"--calib-base-cls", "--calibration-base-class"}, Arity::one, kOthersCalibrate},
      {{"--trt-config-postprocess-script", "--trt-cpps"}, Arity::one},
      {{"--trt-network-postprocess-script", "--trt-npps"}, Arity::any},
      {{kScript}, Arity::one, kOnlyRunWrites},
  };
  return options;
}

std::string_view reason_of(std::string_view name) {
  const auto known =
      std::ranges::find(absent_options(), name, [](const AbsentOption& option) { return option.names.front(); });
  return known == absent_options().end() ? kNoEngineOption : known->reason;
}

bool is_calibration(std::string_view name) { return reason_of(name) == kOthersCalibrate; }

std::vector<OptionRow> refused_rows() {
  std::vector<OptionRow> rows;
  for (const AbsentOption& option : absent_options()) {
    if (option.names.front() != kScript) rows.push_back(refused(option.names, option.arity));
  }
  return rows;
}

}  // namespace

// The library of TensorRT's own plugins: nodes that it would compute are the engine's, or refused where they are met.
bool is_standard_library(const std::string& path) {
  const std::string_view name = std::string_view(path).substr(path.find_last_of('/') + 1);
  return name.starts_with("libnvinfer_plugin") || name.starts_with("nvinfer_plugin");
}

OptionGroup engine_build_group() {
  // `convert` measures without being asked, and names what it writes otherwise.
  return engine_settings_group({"--measure-tactics", "--save-engine", "--bf16", "--fp16", "--int8", "--fp8",
                                "--optimization-profile", "--layer-precisions", "--precision-constraints",
                                "--refit-from"});
}

void add_default_profile(const Arguments& arguments, exec::SessionOptions& session) {
  for (const std::string_view name : {"trt-min-shapes", "trt-opt-shapes", "trt-max-shapes"}) {
    if (session.settings.has(name)) return;
  }
  std::vector<std::string> shapes;
  for (const std::string& text : arguments.values("--input-shapes")) {
    if (!text.ends_with(":auto")) shapes.push_back(input_shape_text(parse_input_shape("--input-shapes", text)));
  }
  if (!shapes.empty()) session.settings.set("trt-opt-shapes", std::move(shapes));
}

void add_profile_shapes(const Arguments& arguments, std::vector<exec::InputShape>& shapes) {
  const std::string chosen = arguments.value("--optimization-profile");
  const uint64_t profile = chosen.empty() ? 0 : parse_count("--optimization-profile", chosen, 0);
  std::vector<exec::InputShape> found;
  // An engine for which no usual shape is given is tuned for the least one, or else for the greatest.
  for (const std::string_view option : {"--trt-opt-shapes", "--trt-min-shapes", "--trt-max-shapes"}) {
    const auto uses = arguments.occurrences(option);
    if (profile >= uses.size()) continue;
    for (const std::string& text : uses[profile]) {
      if (text.ends_with(":auto")) continue;  // the type that the model says
      exec::InputShape shape = parse_profile_shape(option, text);
      if (std::ranges::find(found, shape.pattern, &exec::InputShape::pattern) == found.end()) found.push_back(shape);
    }
  }
  shapes.insert(shapes.end(), found.begin(), found.end());
}

OptionGroup engine_view_group() {
  return {
      .title = "Engine",
      .description = "Options about engines, which are not shown: they are refused",
      .rows = {refused({"--trt-network-postprocess-script", "--trt-npps"}, Arity::one_or_more),
               refused({"--plugins"}, Arity::one_or_more), refused({"--layer-precisions"}, Arity::one_or_more),
               refused({"--tensor-dtypes", "--tensor-datatypes"}, Arity::one_or_more),
               refused({"--all-tensor-dtypes", "--all-tensor-datatypes"}, Arity::one),
               refused({"--tensor-formats"}, Arity::one_or_more), refused({"--all-tensor-formats"}, Arity::one_or_more),
               refused({"--strongly-typed"}, Arity::flag), refused({"--mark-debug"}, Arity::one_or_more),
               refused({kUnfused}, Arity::flag), refused({"--decomposable-attentions"}, Arity::flag),
               refused({"--save-timing-cache"}, Arity::one), refused({"--load-runtime"}, Arity::one),
               refused({"--dla-workspace-allocation-strategy"}, Arity::one),
               refused({"--onnx-flags"}, Arity::one_or_more), refused({"--plugin-instancenorm"}, Arity::flag),
               refused({"--enable-uint8-asymmetric-quantization-dla"}, Arity::flag), refused({"--ckpt"}, Arity::one),
               refused({"--freeze-graph"}, Arity::flag)},
  };
}

OptionGroup engine_debug_group() {
  return {.title = "Engine",
          .description = "Options of TensorRT that the built-in engine does not have: they are refused",
          .rows = refused_rows(),
          .spellings = {{.option = "--workspace", .value = "*", .words = {"--pool-limit", "workspace:{}"}}}};
}

OptionGroup engine_run_group() {
  OptionGroup group = engine_debug_group();
  std::erase_if(group.rows, [](const OptionRow& row) {
    const std::string_view name = canonical_name(row);
    return is_calibration(name) || name == "--weights" || name == kUnfused || name == kOpset;
  });
  // Values inside of layers are told as absent, so what is left are those between them.
  group.spellings.push_back({.option = kUnfused, .words = {"--onnx-outputs", "mark", "all"}});
  return group;
}

OptionGroup engine_convert_group() {
  OptionGroup group = engine_run_group();
  std::erase_if(group.spellings, [](const auto& spelling) { return spelling.option == kUnfused; });
  group.spellings.push_back({.option = "--pooled-outputs", .reason = "engines keep their outputs so anyway"});
  group.rows.push_back(refused({kScript}, Arity::one));
  group.rows.push_back(refused({kUnfused}, Arity::flag));
  return group;
}

OptionRow opset_row() {
  return {.names = {kOpset},
          .metavar = "N",
          .help =
              "the version of ai.onnx that a model of TensorFlow becomes; default: 20, or 21 for codes of 16 and 4 "
              "bits"};
}

void read_opset(const Arguments& arguments, tasks::ModelSource& model) {
  if (!arguments.has(kOpset)) return;
  if (!tasks::is_tensorflow_model(model)) fail(ErrorCode::unsupported, "`{}`: {}", kOpset, kOtherOpset);
  model.opset = static_cast<int64_t>(parse_count(kOpset, arguments.value(kOpset)));
}

void refuse_absent_options(const OptionGroup& group, const Arguments& arguments) {
  for (const OptionRow& row : group.rows) {
    const std::string_view name = canonical_name(row);
    if (!arguments.has(name)) continue;
    if (name == "--plugins" && std::ranges::all_of(arguments.values(name), is_standard_library)) continue;
    fail(ErrorCode::unsupported, "`{}`: {}", name, reason_of(name));
  }
}

}  // namespace assay::cli
