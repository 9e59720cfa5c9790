#include "engine/lowering/gather_first.h"

#include <array>
#include <vector>

#include "ir/queries.h"
#include "ops/traits.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "passes/rules.h"

namespace assay::engine {
namespace {

struct GatherContext {
  passes::PassRun& run;
  passes::Inferred inferred;
};

bool is_used_once(const ir::Model& model, ir::ValueId value) {
  const ir::Use* const use = model[value].first_use;
  return use != nullptr && use->next == nullptr && !ir::is_output(model, value);
}

// The operand of which a node computes each element with single numbers; nullopt: it does something else.
std::optional<uint32_t> table_of(GatherContext& context, ir::NodeId node) {
  const ir::Model& model = context.run.model();
  const ops::Traits& traits = ops::traits(model, node);
  if (!context.run.is_standard(node) || ir::has_references(model[node])) return std::nullopt;
  if (traits.is_cast()) return 0;
  if (!traits.is(ops::Nature::elementwise) || model[node].operands.size() != 2) return std::nullopt;
  for (const uint32_t number : {1U, 0U}) {
    const std::optional<tensor::Shape> dims = context.inferred.shape(ir::operand(model, node, number));
    if (dims && dims->size() < 2 && *tensor::element_count(*dims) == 1) return 1 - number;
  }
  return std::nullopt;
}

// The nodes between a constant and the Gather that reads what they make of it, the last one first; empty: there are
// none, or it is no constant.
std::vector<ir::NodeId> nodes_before(GatherContext& context, ir::NodeId gather) {
  const ir::Model& model = context.run.model();
  std::vector<ir::NodeId> nodes;
  ir::ValueId value = ir::operand(model, gather, 0);
  for (ir::NodeId node = ir::producer(model, value); node.valid(); node = ir::producer(model, value)) {
    if (context.run.constant(value) != nullptr) break;
    const std::optional<uint32_t> table = table_of(context, node);
    if (!table || !is_used_once(model, value)) return {};
    nodes.push_back(node);
    value = ir::operand(model, node, *table);
  }
  return context.run.constant(value) != nullptr ? nodes : std::vector<ir::NodeId>();
}

void move(GatherContext& context, ir::NodeId gather) {
  const ir::Model& model = context.run.model();
  const std::vector<ir::NodeId> nodes = nodes_before(context, gather);
  if (nodes.empty()) return;
  const auto shape_of = [&](ir::ValueId value) { return context.inferred.shape(value); };
  const std::optional<tensor::Shape> taken = shape_of(ir::result(model, gather));
  const std::optional<tensor::Shape> all = shape_of(ir::operand(model, gather, 0));
  if (!taken || !all || taken->empty() || *tensor::element_count(*taken) >= *tensor::element_count(*all)) return;
  ir::Patch patch;
  const auto add_like = [&](ir::NodeId node, uint32_t table, ir::PatchValue given) {
    std::vector<ir::PatchValue> operands;
    for (const ir::Use& use : model[node].operands) operands.emplace_back(use.value);
    operands[table] = given;
    const std::span<const ir::Attribute> attributes = model[node].attributes;
    return patch.add({.op = model.text(model[node].op),
                      .name = model[node].name,
                      .operands = std::move(operands),
                      .attributes = {attributes.begin(), attributes.end()}});
  };
  const ir::NodeId first = nodes.back();
  ir::PatchValue value = add_like(gather, 0, ir::operand(model, first, *table_of(context, first)));
  for (size_t i = nodes.size(); i-- > 0;) value = add_like(nodes[i], *table_of(context, nodes[i]), value);
  patch.replace(ir::result(model, gather), value);
  patch.remove(gather);
  for (const ir::NodeId node : nodes) patch.remove(node);
  context.run.rewriter().commit("{0} before what is computed of a constant", patch);
}

}  // namespace

void gather_first(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {
      {{.name = "gather-first",
        .summary = "Gather of a constant before what is computed of it",
        .pass_class = passes::PassClass::exact,
        .run = [](passes::PassRun& run) {
          GatherContext context{run, passes::Inferred(run)};
          passes::apply_rules(run, context, std::array{passes::Rule<GatherContext>{"Gather", move}});
        }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
