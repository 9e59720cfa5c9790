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

std::vector<OptionRow> refused_rows() {
  std::vector<OptionRow> rows;
  for (const std::string_view name : {"--fp8",
                                      "--best",
                                      "--sparse-weights",
                                      "--version-compatible",
                                      "--exclude-lean-runtime",
                                      "--error-on-timing-cache-miss",
                                      "--disable-compilation-cache",
                                      "--trt-safety-restricted",
                                      "--refittable",
                                      "--strip-plan",
                                      "--use-dla",
                                      "--allow-gpu-fallback",
                                      "--weight-streaming",
                                      "--direct-io",
                                      "--use-gpu",
                                      "--plugin-instancenorm",
                                      "--strongly-typed",
                                      "--mark-unfused-tensors-as-debug-tensors",
                                      "--decomposable-attentions",
                                      "--enable-uint8-asymmetric-quantization-dla",
                                      "--freeze-graph",
                                      "--tftrt",
                                      "--use-tftrt",
                                      "--xla",
                                      "--allow-growth",
                                      "--dynamic-op"}) {
    rows.push_back(refused({name}, Arity::flag));
  }
  for (const std::string_view name : {"--precision-constraints",
                                      "--calibration-cache",
                                      "--builder-optimization-level",
                                      "--hardware-compatibility-level",
                                      "--max-aux-streams",
                                      "--profiling-verbosity",
                                      "--runtime-platform",
                                      "--engine-capability",
                                      "--tiling-optimization-level",
                                      "--load-runtime",
                                      "--optimization-profile",
                                      "--allocation-strategy",
                                      "--weight-streaming-budget",
                                      "--dla-workspace-allocation-strategy",
                                      "--weights",
                                      "--ckpt",
                                      "--save-pb",
                                      "--save-tensorboard",
                                      "--save-timeline",
                                      "--gpu-memory-fraction",
                                      "--opset",
                                      "--minimum-segment-size",
                                      "--workspace",
                                      "--quantile"}) {
    rows.push_back(refused({name}, Arity::one));
  }
  for (const std::string_view name :
       {"--tactic-sources", "--preview-features", "--quantization-flags", "--compute-capabilities", "--plugins",
        "--onnx-flags", "--trt-outputs", "--trt-exclude-outputs", "--trt-outputs-by-type", "--layer-precisions",
        "--tensor-formats", "--mark-debug", "--tf-outputs", "--all-tensor-formats"}) {
    rows.push_back(refused({name}, Arity::any));
  }
  rows.push_back(refused({"--calib-base-cls", "--calibration-base-class"}, Arity::one));
  rows.push_back(refused({"--trt-config-postprocess-script", "--trt-cpps"}, Arity::one));
  rows.push_back(refused({"--pool-limit", "--memory-pool-limit"}, Arity::any));
  rows.push_back(refused({"--tensor-dtypes", "--tensor-datatypes"}, Arity::any));
  rows.push_back(refused({"--all-tensor-dtypes", "--all-tensor-datatypes"}, Arity::one));
  rows.push_back(refused({"--trt-network-postprocess-script", "--trt-npps"}, Arity::any));
  return rows;
}

}  // namespace

OptionGroup engine_build_group() {
  // `convert` measures without being asked, and names what it writes otherwise.
  return backend_settings_group("engine", {"--measure-tactics", "--save-engine", "--bf16", "--fp16", "--int8"});
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

OptionGroup engine_view_group() {
  return {
      .title = "Engine",
      .description = "Options about engines, which are not shown: they are refused",
      .rows = {{.names = {"--convert-to", "--display-as"},
                .choices = {"trt"},
                .help = "show the network that the built-in engine makes of the model"},
               {.names = {"--combine-tensor-info"},
                .metavar = "FILE",
                .help = "add the ranges of saved tensors to the layers of an engine",
                .is_file = true},
               refused({"--trt-network-postprocess-script", "--trt-npps"}, Arity::one_or_more),
               refused({"--plugins"}, Arity::one_or_more),
               refused({"--layer-precisions"}, Arity::one_or_more),
               refused({"--tensor-dtypes", "--tensor-datatypes"}, Arity::one_or_more),
               refused({"--all-tensor-dtypes", "--all-tensor-datatypes"}, Arity::one),
               refused({"--tensor-formats"}, Arity::one_or_more),
               refused({"--all-tensor-formats"}, Arity::one_or_more),
               refused({"--strongly-typed"}, Arity::flag),
               refused({"--mark-debug"}, Arity::one_or_more),
               refused({"--mark-unfused-tensors-as-debug-tensors"}, Arity::flag),
               refused({"--decomposable-attentions"}, Arity::flag),
               refused({"--save-timing-cache"}, Arity::one),
               refused({"--load-runtime"}, Arity::one),
               refused({"--dla-workspace-allocation-strategy"}, Arity::one),
               refused({"--onnx-flags"}, Arity::one_or_more),
               refused({"--plugin-instancenorm"}, Arity::flag),
               refused({"--enable-uint8-asymmetric-quantization-dla"}, Arity::flag),
               refused({"--ckpt"}, Arity::one),
               refused({"--freeze-graph"}, Arity::flag)},
  };
}

OptionGroup engine_run_group() {
  return {.title = "Engine",
          .description = "Options of TensorRT that the built-in engine does not have: they are refused",
          .rows = refused_rows()};
}

OptionGroup engine_convert_group() {
  OptionGroup group = engine_run_group();
  constexpr std::string_view kOwn[] = {"--weights",        "--quantile",          "--precision-constraints",
                                       "--calib-base-cls", "--calibration-cache", "--layer-precisions"};
  std::erase_if(group.rows, [&](const OptionRow& row) {
    return std::ranges::find(kOwn, canonical_name(row)) != std::ranges::end(kOwn);
  });
  group.rows.push_back(refused({"--pooled-outputs"}, Arity::flag));
  group.rows.push_back(refused({"--gen-script"}, Arity::one));
  return group;
}

void refuse_absent_options(const OptionGroup& group, const Arguments& arguments) {
  for (const OptionRow& row : group.rows) {
    const std::string_view name = canonical_name(row);
    if (!arguments.has(name)) continue;
    if (is_tensorflow(name)) fail(ErrorCode::unsupported, "`{}`: {}", name, kNoTensorFlow);
    if (name == "--gen-script") fail(ErrorCode::unsupported, "`{}`: only `run` writes scripts", name);
    fail(ErrorCode::unsupported, "`{}`: {}", name, kNoEngineOption);
  }
}

}  // namespace assay::cli
