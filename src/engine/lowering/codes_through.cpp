#include "engine/lowering/codes_through.h"

#include <vector>

#include "engine/layer.h"
#include "engine/lowering/quantized_groups.h"
#include "engine/quantization.h"
#include "ir/naming.h"

namespace assay::engine {
namespace {

constexpr int64_t kFirstMaxPoolOfCodes = 12;

class CodesThrough {
 public:
  CodesThrough(ir::Model& model, ir::Rewriter& rewriter) : model_(model), rewriter_(rewriter), inference_(model) {
    inference_.run();
  }

  void move_behind_pools() {
    for (ir::NodeId dequantizer : dequantizers()) {
      for (ir::NodeId pool = user_of(dequantizer, "MaxPool"); pool.valid() && takes_codes(pool);
           pool = user_of(dequantizer, "MaxPool")) {
        if (!rewriter_.record("the greatest codes stand for the greatest values", pool)) return;
        dequantizer = moved(dequantizer, pool);
      }
    }
  }

  void drop_inverses() {
    for (const ir::NodeId dequantizer : dequantizers()) {
      const ir::NodeId quantizer = user_of(dequantizer, "QuantizeLinear");
      if (!quantizer.valid() || !is_inverse(dequantizer, quantizer)) continue;
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

  // The only node that uses the result, if it is this operator.
  ir::NodeId user_of(ir::NodeId node, std::string_view op) const {
    const ir::NodeId user = only_user(model_, model_[node].results.front());
    const bool is_it = user.valid() && model_.text(model_[user].domain).empty() && model_.text(model_[user].op) == op;
    return is_it ? user : ir::NodeId{};
  }

  bool takes_codes(ir::NodeId pool) const {
    const ops::Callee& callee = inference_.callees()[pool];
    return callee.op != nullptr && callee.version >= kFirstMaxPoolOfCodes && model_[pool].results.size() == 1;
  }

  bool is_inverse(ir::NodeId dequantizer, ir::NodeId quantizer) const {
    const ConstantOf constant = [&](ir::ValueId value) { return constant_of(model_, inference_, value); };
    const std::optional<Quantizer> from = find_quantizer(model_, inference_, dequantizer, constant);
    return from && from == find_quantizer(model_, inference_, quantizer, constant);
  }

  void drop(ir::NodeId dequantizer, ir::NodeId quantizer) {
    const ir::ValueId codes = model_[quantizer].results.front();
    for (const ir::Use& use : ir::uses(model_, codes)) {
      if (model_[use.user].is_outputs) return;  // it has a name of its own
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
  ops::Inference inference_;
};

}  // namespace

void pass_codes_through(ir::Model& model, ir::Rewriter& rewriter) {
  CodesThrough(model, rewriter).move_behind_pools();
  CodesThrough(model, rewriter).drop_inverses();
}

}  // namespace assay::engine
