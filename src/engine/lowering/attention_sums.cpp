#include "engine/lowering/attention_sums.h"

#include <array>

#include "engine/layers/element_op.h"
#include "engine/layers/element_walk.h"
#include "engine/lowering/moves.h"
#include "ir/queries.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "passes/reshapes.h"
#include "passes/rules.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::ValueId;
using tensor::Shape;

constexpr uint64_t kMostNumbers = uint64_t{1} << 22;  // of a constant that is made

struct SumsContext {
  passes::PassRun& run;
  passes::Inferred inferred;
};

// The node that makes a value for one use, if it is an operator of ai.onnx.
NodeId maker(SumsContext& context, ValueId value) {
  const NodeId node = producer_for_one(context.run.model(), value);
  return node.valid() && context.run.is_standard(node) ? node : NodeId();
}

// Likewise, if it computes element by element what that one does.
NodeId maker(SumsContext& context, ValueId value, ElementOp op) {
  const NodeId node = maker(context, value);
  if (!node.valid()) return {};
  return element_op(context.run.model().text(context.run.model()[node].op), context.run.facts(node).version()) == op
             ? node
             : NodeId();
}

// Likewise, if it multiplies matrices.
NodeId product_maker(SumsContext& context, ValueId value) {
  const NodeId node = maker(context, value);
  if (!node.valid()) return {};
  const ops::Traits& traits = ops::traits(context.run.model(), node);
  return traits.product == ops::ProductKind::matrices && !traits.has_bias ? node : NodeId();
}

// A node of two operands, of which the right one here is a constant of float32.
struct WithConstant {
  ValueId computed;
  const tensor::Tensor* constant = nullptr;
};
WithConstant with_constant(SumsContext& context, NodeId node) {
  for (const uint32_t i : {1U, 0U}) {
    const tensor::Tensor* const constant = context.run.constant(ir::operand(context.run.model(), node, i));
    if (constant != nullptr && constant->dtype() == tensor::DType::float32)
      return {ir::operand(context.run.model(), node, 1 - i), constant};
  }
  return {};
}

// The operand of a node that keeps all elements in their order, which a value is made of; invalid: there is none.
ValueId reshaped(SumsContext& context, ValueId value) {
  const NodeId node = producer_for_one(context.run.model(), value);
  const bool is_reshape = node.valid() && passes::is_reshape(context.run, node);
  return is_reshape ? ir::operand(context.run.model(), node, 0) : ValueId();
}

// The numbers of a constant as it is broadcast; empty: it is not.
std::vector<float> spread(const tensor::Tensor& constant, const Shape& dims) {
  const TensorDesc out = make_desc(tensor::DType::float32, dims);
  const auto strides = walked_strides(make_desc(tensor::DType::float32, constant.shape()), out);
  if (!strides) return {};
  const std::vector<int64_t> extents = walked_extents(out);
  const auto given = tensor::load_elements<double>(constant);
  std::vector<float> numbers(static_cast<size_t>(out.count()));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] =
        static_cast<float>(given[static_cast<size_t>(walked_offset(extents, *strides, static_cast<int64_t>(i)))]);
  return numbers;
}

// Adds both constants of scores at once.
void join_sums(SumsContext& context, NodeId softmax) {
  const ir::Model& model = context.run.model();
  const ValueId scores = ir::operand(model, softmax, 0);
  const ValueId windows = reshaped(context, scores);
  const NodeId outer = windows.valid() ? maker(context, windows, ElementOp::add) : NodeId();
  if (!outer.valid()) return;
  const WithConstant second = with_constant(context, outer);
  const ValueId summed = second.constant != nullptr ? reshaped(context, second.computed) : ValueId();
  const NodeId inner = summed.valid() ? maker(context, summed, ElementOp::add) : NodeId();
  if (!inner.valid()) return;
  const WithConstant first = with_constant(context, inner);
  const std::optional<Shape> dims = context.inferred.shape(scores), wide = context.inferred.shape(windows);
  if (first.constant == nullptr || !dims || !wide || context.inferred.shape(summed) != dims) return;
  if (*tensor::element_count(*dims) > kMostNumbers) return;
  std::vector<float> sum = spread(*first.constant, *dims);
  const std::vector<float> added = spread(*second.constant, *wide);
  if (sum.empty() || sum.size() != added.size()) return;
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += added[i];
  ir::Patch patch;
  const ir::PatchValue constant =
      patch.add_constant(tensor::make_tensor<float>(tensor::DType::float32, *dims, std::span<const float>(sum)));
  patch.replace(scores, patch.add({.op = model.text(model[inner].op), .operands = {first.computed, constant}}));
  for (const NodeId node : {ir::producer(model, scores), outer, ir::producer(model, second.computed), inner})
    patch.remove(node);
  context.run.rewriter().commit("constants that are added to scores in turn are added at once", patch);
}

// Scales queries where scores have a factor for each head.
void scale_queries(SumsContext& context, NodeId softmax) {
  const ir::Model& model = context.run.model();
  ValueId scores = ir::operand(model, softmax, 0);
  if (const NodeId sum = maker(context, scores, ElementOp::add); sum.valid())
    scores = with_constant(context, sum).computed;
  const NodeId scaled = scores.valid() ? maker(context, scores, ElementOp::multiply) : NodeId();
  if (!scaled.valid()) return;
  const auto [product, factors] = with_constant(context, scaled);
  const NodeId matmul = factors != nullptr ? product_maker(context, product) : NodeId();
  if (!matmul.valid() || factors->count() < 2) return;
  const std::optional<Shape> dims = context.inferred.shape(scores);
  const std::optional<Shape> queries = context.inferred.shape(ir::operand(model, matmul, 0));
  const Shape& heads = factors->shape();
  if (!dims || !queries || queries->size() != dims->size() || heads.size() > dims->size() || heads.size() < 3) return;
  if (heads[heads.size() - 1] != 1 || heads[heads.size() - 2] != 1) return;
  if (!std::equal(dims->begin(), dims->end() - 2, queries->begin()) || context.inferred.shape(product) != dims) return;
  ir::Patch patch;
  const uint32_t factor = context.run.constant(ir::operand(model, scaled, 1)) == factors ? 1 : 0;
  const ir::PatchValue left =
      patch.add({.op = model.text(model[scaled].op),
                 .operands = {ir::operand(model, matmul, 0), ir::operand(model, scaled, factor)}});
  patch.replace(scores, patch.add({.op = model.text(model[matmul].op),
                                   .name = model[matmul].name,
                                   .operands = {left, ir::operand(model, matmul, 1)}}));
  patch.remove(scaled);
  patch.remove(matmul);
  context.run.rewriter().commit("queries are scaled in place of scores", patch);
}

void join_and_scale(SumsContext& context, NodeId softmax) {
  join_sums(context, softmax);
  scale_queries(context, softmax);
}

}  // namespace

void join_attention_sums(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {
      {{.name = "join-attention-sums",
        .summary = "one constant that is added to scores, and scaled queries",
        .pass_class = passes::PassClass::rounding,
        .run = [](passes::PassRun& run) {
          SumsContext context{run, passes::Inferred(run)};
          const auto is_softmax = [](const ops::Traits& traits) {
            return traits.is(ops::Nature::normalization) && traits.range == ops::ValueRange::part_of_one;
          };
          passes::apply_rules(run, context, passes::rules_of<SumsContext>(is_softmax, join_and_scale));
        }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
