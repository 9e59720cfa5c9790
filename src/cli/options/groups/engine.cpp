#include "cli/options/groups/engine.h"

#include "base/error.h"

namespace assay::cli {
namespace {

OptionRow refused(std::vector<std::string_view> names, Arity arity) {
  return {.names = std::move(names), .arity = arity, .help = "not part of this build", .hidden = true};
}

}  // namespace

OptionGroup engine_view_group() {
  return {
      .title = "Engine",
      .description = "Options about the built-in engine, which is not part of this build: they are refused",
      .rows = {{.names = {"--convert-to", "--display-as"},
                .choices = {"trt"},
                .help = "show the network that the built-in engine makes of the model"},
               {.names = {"--combine-tensor-info"},
                .metavar = "FILE",
                .help = "add the ranges of saved tensors to the layers of an engine",
                .is_file = true},
               refused({"--trt-network-func-name", "--trt-network-func"}, Arity::one),
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

void refuse_engine_options(const Arguments& arguments) {
  const OptionGroup group = engine_view_group();
  for (const OptionRow& row : group.rows) {
    const std::string_view name = canonical_name(row);
    if (!arguments.has(name)) continue;
    const bool tensorflow = name == "--ckpt" || name == "--freeze-graph";
    fail(ErrorCode::unsupported, "`{}`: {}", name,
         tensorflow ? "TensorFlow models are not supported" : "the built-in engine is not part of this build");
  }
}

}  // namespace assay::cli
