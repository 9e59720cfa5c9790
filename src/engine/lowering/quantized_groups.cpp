#include "engine/lowering/quantized_groups.h"

#include <algorithm>
#include <array>

#include "convert/quantize/dequantize.h"
#include "engine/layers/layer.h"
#include "engine/layers/quantization.h"
#include "engine/lowering/compressed_groups.h"
#include "ir/naming.h"
#include "ops/traits.h"
#include "passes/pipelines.h"

namespace assay::engine {

bool is_dequantizer(const ir::Model& model, const ops::Inference& inference, ir::NodeId node) {
  return node.valid() && ops::traits(model, node).decodes() && is_quantizer(model, inference, node);
}

namespace {

ir::NodeId producer_of(const ir::Model& model, ir::ValueId value) {
  return value.valid() && model[value].kind == ir::ValueKind::result ? model[value].producer : ir::NodeId{};
}

}  // namespace

void split_dequantized(ir::Model& model, ir::Rewriter& rewriter) {
  ops::Inference inference(model);
  inference.run();
  std::vector<ir::NodeId> found;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    if (is_dequantizer(model, inference, node)) found.push_back(node);
  }
  for (const ir::NodeId node : found) {
    std::vector<ir::Use> uses;
    for (const ir::Use& use : ir::uses(model, model[node].results.front())) {
      if (!model[use.user].is_outputs && model[use.user].graph == model.main_graph()) uses.push_back(use);
    }
    if (uses.size() < 2 || !rewriter.record("each use of dequantised values has its own", node)) continue;
    for (size_t i = 1; i < uses.size(); ++i) {
      ir::Edit& edit = rewriter.edit();
      std::vector<ir::ValueId> operands;
      for (const ir::Use& use : model[node].operands) operands.push_back(use.value);
      const ir::Symbol name = ir::fresh_name(edit, model.text(model[model[node].results.front()].name));
      const std::vector<ir::Attribute> attributes(model[node].attributes.begin(), model[node].attributes.end());
      const ir::NodeId made = edit.add_node(model.main_graph(),
                                            {.op = model[node].op,
                                             .domain = model[node].domain,
                                             .name = {},
                                             .operands = operands,
                                             .results = {&name, 1},
                                             .attributes = attributes},
                                            model[node].next);
      edit.set_type(model[made].results.front(), model[model[node].results.front()].type);
      edit.origins().merge(made, {node});
      edit.set_operand(uses[i].user, uses[i].index, model[made].results.front());
    }
  }
}

namespace {

// True if a layer will compute with the codes themselves.
bool stays_compressed(const ir::Model& model, const ops::Inference& inference, ir::NodeId dequantizer,
                      const LoweringRules& rules) {
  const ConstantOf constant = [&](ir::ValueId value) { return constant_of(model, inference, value); };
  const auto is_in = [&](const std::vector<ir::NodeId>& group) {
    return std::ranges::find(group, dequantizer) != group.end();
  };
  ir::NodeId user = only_user(model, model[dequantizer].results.front());
  if (user.valid() && ops::traits(model, user).moves == ops::Moves::by_dims)
    user = only_user(model, model[user].results.front());
  return user.valid() && (is_in(quantized_group(model, inference, user, constant, rules)) ||
                          is_in(compressed_group(model, inference, user, constant)));
}

}  // namespace

uint64_t expand_weights(ir::Model& model, ir::Rewriter& rewriter, const LoweringRules& rules) {
  const auto expand = [](passes::PassRun& run) {
    const auto& known = run.options().get<LoweringRules>();
    convert::dequantize_constants(
        run, [&](ir::NodeId node) { return !stays_compressed(run.model(), run.inference(), node, known); });
  };
  const std::array<passes::Pass, 1> pass = {{{.name = "expand-weights",
                                              .summary = "constants that no layer keeps compressed become floats",
                                              .pass_class = passes::PassClass::exact,
                                              .run = expand}}};
  passes::Options options;
  options.of<LoweringRules>() = rules;
  return passes::Pipeline(model, rewriter, options).run(pass);
}

namespace {

bool has_few_rows(const ir::Model& model, const ops::Inference& inference, ir::NodeId product, int64_t few) {
  const std::optional<TensorDesc> desc = find_desc(model, inference, model[product].results.front());
  return desc && !desc->dims.empty() && desc->count() <= few * desc->dims.back();
}

}  // namespace

std::vector<ir::NodeId> quantized_group(const ir::Model& model, const ops::Inference& inference, ir::NodeId product,
                                        const ConstantOf& constant, const LoweringRules& rules) {
  const ops::Traits& traits = ops::traits(model, product);
  if (traits.is(ops::Nature::product) && traits.codes.contains(0) && traits.scales.is_empty()) {
    const ir::NodeId cast = only_user(model, model[product].results.front());
    const std::vector<ir::NodeId> sums = {product, cast};
    return cast.valid() && match_sums(model, inference, sums, constant) ? sums : std::vector<ir::NodeId>();
  }
  std::vector<ir::NodeId> group;
  for (const ir::Use& use : model[product].operands) {
    const ir::NodeId producer = producer_of(model, use.value);
    if (!producer.valid() || !ops::traits(model, producer).decodes()) continue;
    if (only_user(model, use.value) != product) return {};
    group.push_back(producer);
  }
  group.push_back(product);
  std::ranges::sort(group, {}, [&](ir::NodeId node) { return model[node].order; });
  if (group.size() < 3 || group.back() != product) return {};
  const std::optional<QuantizedProduct> found = match_quantized(model, inference, group, constant);
  if (!found) return {};
  // Sums of float8 are less exact than results of float32 are expected to be.
  const bool is_coarse = inference.type(model[product].results.front()).dtype != tensor::DType::float32;
  if (found->is_of_float8() && !(rules.multiplies_float8 && is_coarse)) return {};
  // A few rows are read faster than the weights, which compressed products have as they are.
  const bool is_convolution = traits.product == ops::ProductKind::convolution;
  if (!is_convolution && has_few_rows(model, inference, product, rules.few_rows)) return {};
  return group;
}

std::vector<ir::NodeId> dequantizers_of(const ir::Model& model, const ops::Inference& inference,
                                        const std::vector<ir::NodeId>& group) {
  std::vector<ir::NodeId> found;
  for (const ir::NodeId node : group) {
    for (const ir::Use& use : model[node].operands) {
      const ir::NodeId producer = producer_of(model, use.value);
      const bool is_known = std::ranges::find(group, producer) != group.end();
      if (is_known || !is_dequantizer(model, inference, producer)) continue;
      if (only_user(model, use.value) == node) found.push_back(producer);
    }
  }
  std::ranges::sort(found, {}, [&](ir::NodeId node) { return model[node].order; });
  return found;
}

}  // namespace assay::engine
