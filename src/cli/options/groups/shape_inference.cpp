#include "cli/options/groups/shape_inference.h"

#include "cli/options/arguments.h"
#include "cli/peer.h"

namespace assay::cli {

OptionGroup shape_inference_group() {
  return {
      .title = "ONNX Shape Inference",
      .description = "Whether types and shapes are inferred first",
      .rows = {{.names = {"--shape-inference", "--do-shape-inference"},
                .arity = Arity::flag,
                .help = "infer types and shapes; contradictions are warnings, and a model that is saved has them"},
               no_onnxruntime_row()},
  };
}

void tell_inference_as_there(const Arguments& arguments, Environment& environment) {
  constexpr std::string_view kOff = "--no-onnxruntime-shape-inference";
  if (!is_called_as_peer(environment) || (arguments.knows(kOff) && arguments.flag(kOff))) return;
  environment.log.verbose(
      "Inferred shapes in the model with `onnxruntime.tools.symbolic_shape_infer` (with its counterpart here, which "
      "are "
      "rules of our own)");
}

OptionRow no_onnxruntime_row() {
  return {.names = {"--no-onnxruntime-shape-inference"},
          .arity = Arity::flag,
          .help = "accepted, without effect: inference is always Assay's own",
          .hidden = true};
}

OptionRow fallback_inference_row() {
  return {.names = {"--force-fallback-shape-inference"},
          .arity = Arity::flag,
          .help = "take types and shapes from one run of the model on generated inputs; dynamic dims become static"};
}

}  // namespace assay::cli
