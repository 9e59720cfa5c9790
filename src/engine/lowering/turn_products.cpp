#include "engine/lowering/turn_products.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "ir/queries.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "passes/reshapes.h"
#include "passes/rules.h"

namespace assay::engine {
namespace {

struct TurningContext {
  passes::PassRun& run;
  passes::Inferred inferred;
};

// The last two dims change places.
std::vector<int64_t> turning_order(size_t rank) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

bool is_transpose(TurningContext& context, ir::NodeId node) {
  return ops::traits(context.run.model(), node).moves == ops::Moves::by_dims && context.run.is_standard(node);
}

// The value that a Transpose of the last two dims reads; invalid: there is none, or others use the result too.
ir::ValueId turned_from(TurningContext& context, ir::ValueId value, size_t rank) {
  const ir::Model& model = context.run.model();
  const ir::NodeId node = ir::producer(model, value);
  const ir::Use* const use = model[value].first_use;
  if (!node || !is_transpose(context, node) || use == nullptr || use->next != nullptr) return {};
  return context.run.facts(node).integers("perm") == turning_order(rank) ? ir::operand(model, node, 0) : ir::ValueId{};
}

bool is_given_by_softmax(TurningContext& context, ir::ValueId b) {
  const ir::NodeId maker = ir::producer(context.run.model(), b);
  if (!maker || !context.run.is_standard(maker)) return false;
  const ops::Traits& traits = ops::traits(context.run.model(), maker);
  return traits.is(ops::Nature::normalization) && traits.range == ops::ValueRange::part_of_one;
}

// A product by a large matrix that is no scores of an attention, whose heads are not that deep.
bool is_wide(const tensor::Shape& left, const tensor::Shape& right) {
  constexpr int64_t kTimes = 8;  // least ratio of columns to rows
  constexpr int64_t kDeepestHead = 256;
  const int64_t rows = left[left.size() - 2];
  return rows > 1 && rows * kTimes <= right.back() && left.back() > kDeepestHead;
}

void turn(TurningContext& context, ir::NodeId node) {
  const ir::Model& model = context.run.model();
  const ir::ValueId a = ir::operand(model, node, 0), t = ir::operand(model, node, 1);
  const std::optional<tensor::Shape> left = context.inferred.shape(a), right = context.inferred.shape(t);
  if (!left || !right || left->size() != right->size() || left->size() < 2) return;
  if (!std::equal(left->begin(), left->end() - 2, right->begin())) return;
  const ir::ValueId b = turned_from(context, t, right->size());
  if (!b || context.run.constant(a) != nullptr || context.run.constant(b) != nullptr) return;
  const bool is_weighed = is_given_by_softmax(context, a);  // of an attention as it should be
  if (!is_given_by_softmax(context, b) && (is_weighed || !is_wide(*left, *right))) return;
  ir::Patch patch;
  const std::vector<int64_t> order = turning_order(left->size());
  const ir::PatchValue other = passes::add_transpose(context.run, patch, a, order);
  const ir::PatchValue product =
      patch.add({.op = model.text(model[node].op), .name = model[node].name, .operands = {b, other}});
  patch.replace(ir::result(model, node), passes::add_transpose(context.run, patch, product, order));
  patch.remove(node);
  patch.remove(ir::producer(model, t));
  context.run.rewriter().commit("{0} the other way round", patch);
}

}  // namespace

void turn_products(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {
      {{.name = "turn-products",
        .summary = "products by large turned matrices the other way round",
        .pass_class = passes::PassClass::rounding,
        .run = [](passes::PassRun& run) {
          TurningContext context{run, passes::Inferred(run)};
          const auto is_matmul = [](const ops::Traits& traits) {
            return traits.product == ops::ProductKind::matrices && !traits.has_bias;
          };
          passes::apply_rules(run, context, passes::rules_of<TurningContext>(is_matmul, turn));
        }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
