#include "engine/lowering/spell_patches.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "engine/lowering/list_or.h"
#include "ir/queries.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "passes/reshapes.h"
#include "passes/rules.h"

namespace assay::engine {
namespace {

struct PatchesContext {
  passes::PassRun& run;
  passes::Inferred inferred;
};

struct Patches {
  int64_t pictures, channels, lines, columns;  // of patches
  int64_t height, width;                       // of a patch
  int64_t made;                                // channels
};

std::optional<Patches> find_patches(PatchesContext& context, ir::NodeId node) {
  constexpr int64_t kFewPixels = 64;
  const ir::Model& model = context.run.model();
  const std::optional<tensor::Shape> in = context.inferred.shape(ir::operand(model, node, 0));
  const std::optional<tensor::Shape> out = context.inferred.shape(ir::result(model, node));
  const tensor::Tensor* const weights = context.run.constant(ir::operand(model, node, 1));
  if (!in || !out || in->size() != 4 || weights == nullptr || std::ranges::count(*out, 0) > 0) return std::nullopt;
  const tensor::Shape& w = weights->shape();
  const ops::Node facts = context.run.facts(node);
  const std::string_view padding = facts.string("auto_pad", "NOTSET");
  const bool are_apart = list_or(facts, "strides", 2, 1) == std::vector{w[2], w[3]} &&
                         list_or(facts, "dilations", 2, 1) == std::vector<int64_t>{1, 1} &&
                         list_or(facts, "pads", 4, 0) == std::vector<int64_t>(4, 0);
  const bool are_whole = (*in)[2] == (*out)[2] * w[2] && (*in)[3] == (*out)[3] * w[3];
  if (!are_apart || !are_whole || padding.starts_with("SAME") || facts.integer("group", 1) != 1) return std::nullopt;
  if (w[2] * w[3] <= kFewPixels) return std::nullopt;
  return Patches{(*in)[0], (*in)[1], (*out)[2], (*out)[3], w[2], w[3], (*out)[1]};
}

void spell(PatchesContext& context, ir::NodeId node) {
  const std::optional<Patches> found = find_patches(context, node);
  if (!found) return;
  const Patches& p = *found;
  const ir::Model& model = context.run.model();
  const int64_t depth = p.channels * p.height * p.width;
  ir::Patch patch;
  ir::PatchValue rows = passes::add_reshape(patch, ir::operand(model, node, 0),
                                            {p.pictures, p.channels, p.lines, p.height, p.columns, p.width});
  rows = passes::add_transpose(context.run, patch, rows, {0, 2, 4, 1, 3, 5});
  rows = passes::add_reshape(patch, rows, {p.pictures * p.lines * p.columns, depth});
  const tensor::Tensor& filters = *context.run.constant(ir::operand(model, node, 1));
  const ir::PatchValue weights =
      patch.add_constant(tensor::Tensor(filters.dtype(), {p.made, depth}, filters.storage()));
  std::vector<ir::PatchValue> operands = {rows, weights};
  if (const ir::ValueId bias = ir::operand(model, node, 2)) operands.emplace_back(bias);
  ir::PatchValue made = passes::add_row_product(context.run, patch, operands);
  made = passes::add_reshape(patch, made, {p.pictures, p.lines, p.columns, p.made});
  patch.replace(ir::result(model, node), passes::add_transpose(context.run, patch, made, {0, 3, 1, 2}));
  patch.remove(node);
  context.run.rewriter().commit("{0} as a product of patches", patch);
}

}  // namespace

void spell_patches(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {
      {{.name = "spell-patches",
        .summary = "convolutions with large windows side by side as products",
        .pass_class = passes::PassClass::rounding,
        .run = [](passes::PassRun& run) {
          PatchesContext context{run, passes::Inferred(run)};
          const auto is_convolution = [](const ops::Traits& traits) {
            return traits.product == ops::ProductKind::convolution;
          };
          passes::apply_rules(run, context, passes::rules_of<PatchesContext>(is_convolution, spell));
        }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
