#include "cli/options/groups/shape_inference.h"

namespace assay::cli {

OptionGroup shape_inference_group() {
  return {
      .title = "ONNX Shape Inference",
      .description = "Whether types and shapes are inferred first",
      .rows = {{.names = {"--shape-inference", "--do-shape-inference"},
                .arity = Arity::flag,
                .help = "infer types and shapes; contradictions are warnings, and a model that is saved has them"},
               {.names = {"--no-onnxruntime-shape-inference"},
                .arity = Arity::flag,
                .help = "accepted, without effect: inference is always Assay's own",
                .hidden = true}},
  };
}

OptionRow fallback_inference_row() {
  return {.names = {"--force-fallback-shape-inference"},
          .arity = Arity::flag,
          .help = "take types and shapes from one run of the model on generated inputs; dynamic dims become static"};
}

}  // namespace assay::cli
