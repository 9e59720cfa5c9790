#include "cli/options/groups/shape_inference.h"

#include <fmt/format.h>

#include "ir/verify.h"
#include "ops/write_types.h"

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
          .help = "take types and shapes from one run of the model on made-up inputs; dynamic dims become static"};
}

void note_contradictions(const ops::Inference& inference, LoadedModel& loaded) {
  for (const ops::InferenceFinding& finding : inference.findings()) {
    const std::string node = ir::describe(loaded.model, finding.node);
    loaded.findings.warn("inference", node, fmt::format("{}: {}", node, finding.message));
  }
}

void infer_shapes(LoadedModel& loaded) {
  ops::Inference inference(loaded.model);
  inference.run();
  note_contradictions(inference, loaded);
  ops::write_types(inference, loaded.model);
}

}  // namespace assay::cli
