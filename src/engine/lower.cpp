#include "engine/lower.h"

#include <array>

#include "convert/precision/convert_floats.h"
#include "engine/lowering/form_layers.h"
#include "engine/lowering/quantized_groups.h"
#include "ops/write_types.h"
#include "passes/opset/opset_options.h"
#include "passes/pipelines.h"
#include "schema/imports.h"

namespace assay::engine {

void fix_shapes(ir::Model& model, const std::map<std::string, tensor::Shape>& shapes) {
  ir::Edit edit(model);
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    const auto found = shapes.find(std::string(model.text(model[input].name)));
    const ir::TypeId declared = model[input].type;
    if (found == shapes.end() || !declared.valid() || model[declared].kind != ir::TypeKind::tensor) continue;
    ir::Type type = model[declared];
    type.ranked = true;
    type.dims.clear();
    for (const int64_t dim : found->second) type.dims.push_back(model.dims().constant(dim));
    edit.set_type(input, model.types().intern(std::move(type)));
  }
}

namespace {

// Operators that admit it do so from this version of ai.onnx on; a model that cannot be raised keeps more in float32.
constexpr int64_t kFirstWithBfloat16 = 22;

void store_in_bfloat16(ir::Model& model, ir::Rewriter& rewriter) {
  constexpr std::array<std::string_view, 1> kChange = {"change-opset"};
  if (schema::imported_version(model) < kFirstWithBfloat16) {
    passes::Options options;
    options.of<passes::OpsetOptions>().version = kFirstWithBfloat16;
    passes::Pipeline(model, rewriter, options).run(kChange);
  }
  convert::HalfOptions half;
  half.half = tensor::DType::bfloat16;
  Diagnostics findings;
  convert::convert_floats(model, rewriter, half, findings);
}

}  // namespace

void lower(ir::Model& model, ir::Rewriter& rewriter, const Precision& precision) {
  ops::Inference inference(model);
  inference.run();
  ops::write_types(inference, model);
  constexpr std::array<std::string_view, 1> kSort = {"sort"};
  const passes::Options options;
  passes::Pipeline pipeline(model, rewriter, options);
  pipeline.run(kSort);
  passes::inline_functions(model, rewriter);
  split_dequantized(model, rewriter);
  expand_weights(model, rewriter);
  pipeline.run_until_stable(passes::simplify_passes());
  pipeline.run_until_stable(passes::fusion_passes());
  pipeline.run(passes::cleanup_passes());
  if (precision.bfloat16) store_in_bfloat16(model, rewriter);
  split_dequantized(model, rewriter);  // again: what was equal has been merged
  form_layers(model, rewriter);
}

}  // namespace assay::engine
