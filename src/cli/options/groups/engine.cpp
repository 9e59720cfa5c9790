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

bool is_tensorflow(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "--ckpt",       "--freeze-graph",        "--tf-outputs",          "--save-pb",
      "--tftrt",      "--use-tftrt",           "--save-tensorboard",    "--xla",
      "--opset",      "--save-timeline",       "--gpu-memory-fraction", "--allow-growth",
      "--dynamic-op", "--minimum-segment-size"};
  for (const std::string_view known : kNames) {
    if (known == name) return true;
  }
  return false;
}

bool is_calibration(std::string_view name) {
  constexpr std::string_view kNames[] = {"--calibration-cache", "--calib-base-cls", "--quantile",
                                         "--regression-cutoff"};
  return std::ranges::find(kNames, name) != std::ranges::end(kNames);
}

std::vector<OptionRow> refused_rows() {
  std::vector<OptionRow> rows;
  for (const std::string_view name : {"--mark-unfused-tensors-as-debug-tensors", "--freeze-graph", "--tftrt",
                                      "--use-tftrt", "--xla", "--allow-growth", "--dynamic-op"}) {
    rows.push_back(refused({name}, Arity::flag));
  }
  for (const std::string_view name :
       {"--calibration-cache", "--weights", "--ckpt", "--save-pb", "--save-tensorboard", "--save-timeline",
        "--gpu-memory-fraction", "--opset", "--minimum-segment-size", "--quantile", "--regression-cutoff"}) {
    rows.push_back(refused({name}, Arity::one));
  }
  for (const std::string_view name : {"--plugins", "--tf-outputs"}) {
    rows.push_back(refused({name}, Arity::any));
  }
  rows.push_back(refused({"--calib-base-cls", "--calibration-base-class"}, Arity::one));
  rows.push_back(refused({"--trt-config-postprocess-script", "--trt-cpps"}, Arity::one));
  rows.push_back(refused({"--trt-network-postprocess-script", "--trt-npps"}, Arity::any));
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
  return backend_settings_group(
      "engine", {"--measure-tactics", "--save-engine", "--bf16", "--fp16", "--int8", "--optimization-profile",
                 "--layer-precisions", "--precision-constraints", "--refit-from"});
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
               refused({"--mark-unfused-tensors-as-debug-tensors"}, Arity::flag),
               refused({"--decomposable-attentions"}, Arity::flag), refused({"--save-timing-cache"}, Arity::one),
               refused({"--load-runtime"}, Arity::one), refused({"--dla-workspace-allocation-strategy"}, Arity::one),
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
    return is_calibration(canonical_name(row)) || canonical_name(row) == "--weights";
  });
  return group;
}

OptionGroup engine_convert_group() {
  OptionGroup group = engine_run_group();
  group.spellings.push_back({.option = "--pooled-outputs", .reason = "engines keep their outputs so anyway"});
  group.rows.push_back(refused({"--gen-script"}, Arity::one));
  return group;
}

void refuse_absent_options(const OptionGroup& group, const Arguments& arguments) {
  for (const OptionRow& row : group.rows) {
    const std::string_view name = canonical_name(row);
    if (!arguments.has(name)) continue;
    if (name == "--plugins" && std::ranges::all_of(arguments.values(name), is_standard_library)) continue;
    if (name == "--opset") {
      fail(ErrorCode::unsupported, "`{}` is about TensorFlow models; `surgeon sanitize` has an option for ONNX", name);
    }
    if (is_tensorflow(name)) fail(ErrorCode::unsupported, "`{}`: {}", name, kNoTensorFlow);
    if (is_calibration(name)) {
      fail(ErrorCode::unsupported, "`{}`: only `convert --int8`, `run --int8` and `bench --int8` calibrate", name);
    }
    if (name == "--gen-script") fail(ErrorCode::unsupported, "`{}`: only `run` writes scripts", name);
    fail(ErrorCode::unsupported, "`{}`: {}", name, kNoEngineOption);
  }
}

}  // namespace assay::cli
