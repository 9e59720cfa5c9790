#include "engine/lowering/lower.h"

#include <algorithm>
#include <array>

#include "engine/lowering/attention_sums.h"
#include "engine/lowering/batch_norm.h"
#include "engine/lowering/casts_before_concat.h"
#include "engine/lowering/chains_first.h"
#include "engine/lowering/codes_through.h"
#include "engine/lowering/collectives_of_halves.h"
#include "engine/lowering/form_layers.h"
#include "engine/lowering/gather_first.h"
#include "engine/lowering/join_moves.h"
#include "engine/lowering/join_products.h"
#include "engine/lowering/join_rotary.h"
#include "engine/lowering/planes_first.h"
#include "engine/lowering/products_first.h"
#include "engine/lowering/quantized_groups.h"
#include "engine/lowering/rows_first.h"
#include "engine/lowering/spell_deep_conv.h"
#include "engine/lowering/spell_deep_pool.h"
#include "engine/lowering/spell_einsum.h"
#include "engine/lowering/spell_fused.h"
#include "engine/lowering/spell_heads.h"
#include "engine/lowering/spell_integers.h"
#include "engine/lowering/spell_patches.h"
#include "engine/lowering/spell_qlinear.h"
#include "engine/lowering/spell_reductions.h"
#include "engine/lowering/spell_top_k.h"
#include "engine/lowering/spell_transposed_conv.h"
#include "engine/lowering/spell_variadic.h"
#include "engine/lowering/turn_products.h"
#include "engine/lowering/wide_halves.h"
#include "ops/write_types.h"
#include "passes/fold/fold_options.h"
#include "passes/merge_options.h"
#include "passes/pipelines.h"

namespace assay::engine {
namespace {

// Types are the same in every run of a body, and shapes may be what its condition rules out.
bool may_be_lowered(const ir::Model& model, const ops::Inference& inference) {
  return std::ranges::none_of(inference.findings(), [&](const ops::InferenceFinding& finding) {
    if (!ops::breaks_rule(finding)) return false;
    const bool may_never_run = model[model[finding.node].graph].parent.valid();
    return finding.code == "schema" || !may_never_run;
  });
}

void widen_what_is_not_computed(ir::Model& model, ir::Rewriter& rewriter, const Precision& precision) {
  for (const tensor::DType half : {tensor::DType::float16, tensor::DType::bfloat16}) {
    if (!precision.rules.has(half)) widen_halves(model, rewriter, half, precision.rounds_halves);
  }
}

// Writes operators that have no kernel as operators that have one.
void spell_operators(ir::Model& model, ir::Rewriter& rewriter, const LoweringRules& rules) {
  spell_heads(model, rewriter);
  spell_fused(model, rewriter);
  spell_qlinear(model, rewriter);
  spell_integers(model, rewriter);
  spell_einsum(model, rewriter);
  gather_first(model, rewriter);
  spell_transposed_conv(model, rewriter, rules);
  spell_patches(model, rewriter);
  if (!rules.has_volumes) spell_deep_conv(model, rewriter);
  if (!rules.has_volumes) spell_deep_pool(model, rewriter);
  spell_reductions(model, rewriter);
  spell_variadic(model, rewriter);
  spell_top_k(model, rewriter);
}

uint64_t constant_bytes(const ir::Model& model) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < model.tensor_slots(); ++i) bytes += model[ir::TensorId{i}].tensor.size_bytes();
  return bytes;
}

// Constants that become floats may be quantised again, by nodes that are constant then.
void simplify_constants(ir::Model& model, ir::Rewriter& rewriter, const LoweringRules& rules,
                        passes::Pipeline& pipeline) {
  uint64_t expanded = 0;
  do {
    split_dequantized(model, rewriter);
    expanded = expand_weights(model, rewriter, rules);
    pipeline.run_until_stable(passes::simplify_passes());
  } while (expanded > 0 && !rewriter.is_done());
}

}  // namespace

void fix_type(ir::Model& model, ir::ValueId input, tensor::DType dtype, const tensor::Shape& shape) {
  std::vector<ir::DimId> dims;
  for (const int64_t dim : shape) dims.push_back(model.dims().constant(dim));
  ir::Edit(model).set_type(input, model.types().tensor(dtype, std::move(dims)));
}

void fix_shapes(ir::Model& model, const std::map<std::string, tensor::Shape>& shapes) {
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    const auto found = shapes.find(std::string(model.text(model[input].name)));
    const ir::TypeId declared = model[input].type;
    if (found == shapes.end() || !declared.valid() || model[declared].kind != ir::TypeKind::tensor) continue;
    fix_type(model, input, model[declared].dtype, found->second);
  }
}

std::set<ir::NodeId> broken_nodes(const ir::Model& model, const ops::Inference& inference) {
  std::set<ir::NodeId> broken;
  for (const ops::InferenceFinding& finding : inference.findings()) {
    if (!ops::breaks_rule(finding)) continue;
    if (model[finding.node].graph == model.main_graph()) broken.insert(finding.node);
  }
  return broken;
}

void lower(ir::Model& model, ir::Rewriter& rewriter, const Precision& precision) {
  const LoweringRules& rules = precision.rules;
  const NarrowLayers narrow(model, precision);
  ops::Inference inference(model);
  inference.run();
  if (!may_be_lowered(model, inference)) return;
  ops::write_types(inference, model);
  constexpr std::array<std::string_view, 1> kSort = {"sort"};
  passes::Options options;
  options.of<passes::MergeOptions>().derives_weights = true;
  options.of<passes::FoldOptions>().quantises = true;
  options.of<passes::FoldOptions>().constant_bytes = constant_bytes(model);  // before types change
  passes::Pipeline pipeline(model, rewriter, options);
  pipeline.run(kSort);
  passes::inline_functions(model, rewriter);
  narrow.declare_float16(model, rewriter);
  widen_what_is_not_computed(model, rewriter, precision);
  spell_operators(model, rewriter, rules);
  simplify_constants(model, rewriter, rules, pipeline);
  pipeline.run(std::array{divide_batch_normalization()});
  pipeline.run_until_stable(passes::fusion_passes());
  pipeline.run(std::array{spell_batch_normalization()});
  pipeline.run(passes::cleanup_passes());
  join_attention_sums(model, rewriter);
  turn_products(model, rewriter);
  join_products(model, rewriter, rules);
  join_rotary(model, rewriter);
  products_first(model, rewriter);
  if (planes_first(model, rewriter) > 0) pipeline.run(passes::folding_passes());
  join_moves(model, rewriter);
  narrow.store_bfloat16(model, rewriter);
  split_dequantized(model, rewriter);  // again: what was equal has been merged
  pass_codes_through(model, rewriter, rules);
  cast_before_concat(model, rewriter);
  if (rules.has(tensor::DType::float16)) exchange_halves(model, rewriter);  // by kernels
  rows_first(model, rewriter);
  chains_first(model, rewriter);
  expand_weights(model, rewriter, rules);  // again: of those that merged nodes keep from being compressed
  form_layers(model, rewriter, rules);
}

}  // namespace assay::engine
