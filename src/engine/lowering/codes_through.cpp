#include "engine/lowering/codes_through.h"

#include <algorithm>
#include <set>
#include <vector>

#include "engine/layers/layer.h"
#include "engine/layers/quantization.h"
#include "engine/lowering/attention_groups.h"
#include "engine/lowering/quantized_groups.h"
#include "ir/naming.h"
#include "ir/queries.h"
#include "ops/traits.h"

namespace assay::engine {
namespace {

bool takes_codes(const schema::Schema& schema) {
  const uint64_t codes = schema::set_of(tensor::DType::uint8) | schema::set_of(tensor::DType::int8);
  return (schema.input(0)->types.tensors & codes) == codes;
}

class CodesThrough {
 public:
  CodesThrough(ir::Model& model, ir::Rewriter& rewriter, const LoweringRules& rules)
      : model_(model), rewriter_(rewriter), rules_(rules), inference_(model) {
    inference_.run();
  }

  void drop_repeated() {
    find_attention();
    for (const ir::NodeId dequantizer : dequantizers()) {
      const ir::NodeId quantizer = producer(model_[dequantizer].operands[0].value);
      if (!quantizer.valid() || !ops::traits(model_, quantizer).encodes() || wants_codes(dequantizer)) continue;
      ir::NodeId source = producer(model_[quantizer].operands[0].value);
      while (source.valid() && is_move(source)) source = producer(model_[source].operands[0].value);
      if (!source.valid() || !is_dequantizer(model_, inference_, source)) continue;
      if (!is_inverse(dequantizer, quantizer) || !is_inverse(source, quantizer)) continue;
      if (!rewriter_.record("values that are quantised already", quantizer)) return;
      skip(quantizer, dequantizer);
    }
  }

  void move_behind() {
    for (ir::NodeId dequantizer : dequantizers()) {
      ir::NodeId user = only_user(model_, model_[dequantizer].results.front());
      while (user.valid() && passes_codes(user)) {
        if (!rewriter_.record("codes are moved and compared instead of what they stand for", user)) return;
        dequantizer = moved(dequantizer, user);
        user = only_user(model_, model_[dequantizer].results.front());
      }
    }
  }

  void drop_inverses() {
    for (const ir::NodeId dequantizer : dequantizers()) {
      const ir::NodeId quantizer = only_user(model_, model_[dequantizer].results.front());
      if (!quantizer.valid() || !ops::traits(model_, quantizer).encodes() || !is_inverse(dequantizer, quantizer))
        continue;
      if (rewriter_.record("codes that are made of themselves", quantizer)) drop(dequantizer, quantizer);
    }
  }

 private:
  std::vector<ir::NodeId> dequantizers() const {
    std::vector<ir::NodeId> found;
    for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) {
      if (is_dequantizer(model_, inference_, node)) found.push_back(node);
    }
    return found;
  }

  bool is_move(ir::NodeId node) const {
    const ops::Traits& traits = ops::traits(model_, node);
    const bool is_move = traits.is_reshape() || traits.moves == ops::Moves::by_dims;
    return is_move && model_.text(model_[node].domain).empty();
  }

  ir::NodeId producer(ir::ValueId value) const {
    const bool is_result = value.valid() && model_[value].kind == ir::ValueKind::result;
    return is_result && model_[value].graph == model_.main_graph() ? model_[value].producer : ir::NodeId{};
  }

  void find_attention() {
    const ConstantOf constant = [&](ir::ValueId value) { return constant_of(model_, inference_, value); };
    for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) {
      if (ops::traits(model_, node).product != ops::ProductKind::matrices) continue;
      const std::vector<ir::NodeId> group = quantized_attention_group(model_, inference_, node, constant);
      attention_.insert(group.begin(), group.end());
    }
  }

  // True if a product of integers, or an attention of codes, takes what is dequantised.
  bool wants_codes(ir::NodeId dequantizer) const {
    const ir::NodeId user = only_user(model_, model_[dequantizer].results.front());
    if (!user.valid() || attention_.contains(dequantizer)) return true;  // several users, or an output
    const ConstantOf constant = [&](ir::ValueId value) { return constant_of(model_, inference_, value); };
    return !quantized_group(model_, inference_, user, constant, rules_).empty();
  }

  bool passes_codes(ir::NodeId node) const {
    const ops::Traits& traits = ops::traits(model_, node);
    if (traits.is(ops::Nature::pool) && traits.rounding == ops::RoundingClass::exact) {
      const ops::Callee& callee = inference_.callees()[node];
      return callee.op != nullptr && takes_codes(*callee.schema) && model_[node].results.size() == 1;
    }
    if (!is_move(node)) return false;
    while (node.valid() && is_move(node)) node = only_user(model_, model_[node].results.front());
    return node.valid() && ops::traits(model_, node).encodes();
  }

  bool is_inverse(ir::NodeId dequantizer, ir::NodeId quantizer) const {
    const ConstantOf constant = [&](ir::ValueId value) { return constant_of(model_, inference_, value); };
    const std::optional<Quantizer> from = find_quantizer(model_, inference_, dequantizer, constant);
    return from && from == find_quantizer(model_, inference_, quantizer, constant);
  }

  // Replaces the result made of codes by what was quantised.
  void skip(ir::NodeId quantizer, ir::NodeId dequantizer) {
    ir::Edit& edit = rewriter_.edit();
    const ir::ValueId floats = model_[dequantizer].results.front();
    const ir::ValueId original = model_[quantizer].operands[0].value;
    edit.replace_uses(floats, original);
    edit.origins().replace(floats, original);
    edit.erase(dequantizer);
    const ir::UseRange left = ir::uses(model_, model_[quantizer].results.front());
    if (left.begin() == left.end()) edit.erase(quantizer);
  }

  void drop(ir::NodeId dequantizer, ir::NodeId quantizer) {
    const ir::ValueId codes = model_[quantizer].results.front();
    for (const ir::Use& use : ir::uses(model_, codes)) {
      if (model_[use.user].is_outputs) return;  // has a name of its own
    }
    ir::Edit& edit = rewriter_.edit();
    const ir::ValueId original = model_[dequantizer].operands[0].value;
    edit.replace_uses(codes, original);
    edit.origins().replace(codes, original);
    edit.erase(quantizer);
    edit.erase(dequantizer);
  }

  // A node like this one with another first operand and another result; it comes before `next`.
  ir::NodeId copy(ir::NodeId like, ir::ValueId operand, ir::Symbol result, ir::NodeId next) {
    std::vector<ir::ValueId> operands;
    for (const ir::Use& use : model_[like].operands) operands.push_back(use.value);
    operands[0] = operand;
    const std::vector<ir::Attribute> attributes(model_[like].attributes.begin(), model_[like].attributes.end());
    const ir::NodeId made = rewriter_.edit().add_node(model_.main_graph(),
                                                      {.op = model_[like].op,
                                                       .domain = model_[like].domain,
                                                       .name = model_[like].name,
                                                       .operands = operands,
                                                       .results = {&result, 1},
                                                       .attributes = attributes},
                                                      next);
    rewriter_.edit().origins().merge(made, {like});
    return made;
  }

  // The dequantizer, after the pool.
  ir::NodeId moved(ir::NodeId dequantizer, ir::NodeId pool) {
    ir::Edit& edit = rewriter_.edit();
    const ir::ValueId result = model_[pool].results.front();
    const ir::Symbol codes = ir::fresh_name(edit, model_.text(model_[result].name));
    const ir::NodeId of_codes = copy(pool, model_[dequantizer].operands[0].value, codes, model_[pool].next);
    const ir::NodeId made =
        copy(dequantizer, model_[of_codes].results.front(), model_[result].name, model_[of_codes].next);
    const ir::ValueId floats = model_[made].results.front();
    edit.set_type(floats, model_[result].type);
    edit.replace_uses(result, floats);
    edit.origins().replace(result, floats);
    edit.erase(pool);
    edit.erase(dequantizer);
    return made;
  }

  ir::Model& model_;
  ir::Rewriter& rewriter_;
  const LoweringRules& rules_;
  ops::Inference inference_;
  std::set<ir::NodeId> attention_;  // nodes of those of codes
};

}  // namespace

void pass_codes_through(ir::Model& model, ir::Rewriter& rewriter, const LoweringRules& rules) {
  CodesThrough(model, rewriter, rules).drop_repeated();
  CodesThrough(model, rewriter, rules).move_behind();
  CodesThrough(model, rewriter, rules).drop_inverses();
}

}  // namespace assay::engine
