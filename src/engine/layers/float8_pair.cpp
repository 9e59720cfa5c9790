#include "engine/layers/float8_pair.h"

#include <cmath>

#include "ops/traits.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

using tensor::DType;

bool is_float8(DType dtype) { return dtype == DType::float8e4m3fn || dtype == DType::float8e5m2; }

class PairReader {
 public:
  PairReader(const ir::Model& model, const ops::Inference& inference) : model_(model), inference_(inference) {}

  bool is_step(ir::NodeId node) const { return is_rounding(node) || is_reading(node); }
  bool is_of_pair(ir::NodeId node) const {
    if (is_rounding(node)) return is_reading(only_reader(node));
    if (!is_reading(node)) return false;
    const ir::ValueId codes = ir::operand(model_, node, 0);
    return model_[codes].kind == ir::ValueKind::result && is_rounding(model_[codes].producer) &&
           only_reader(model_[codes].producer) == node;
  }

 private:
  // In the same graph, which may be the inside of a layer.
  ir::NodeId only_reader(ir::NodeId node) const {
    const ir::Use* const use = model_[model_[node].results.front()].first_use;
    const bool is_only = use != nullptr && use->next == nullptr && model_[use->user].graph == model_[node].graph;
    return is_only ? use->user : ir::NodeId();
  }
  bool is_known(ir::NodeId node) const {
    return node.valid() && !model_[node].is_outputs && model_[node].results.size() == 1 &&
           inference_.callees()[node].op != nullptr;
  }
  DType type_of(ir::ValueId value) const { return value.valid() ? inference_.type(value).dtype : DType::undefined; }

  bool is_rounding(ir::NodeId node) const {
    if (!is_known(node) || !is_float8(type_of(model_[node].results.front()))) return false;
    if (!is_short_float(type_of(ir::operand(model_, node, 0)))) return false;
    const ops::Node facts = node_facts(model_, inference_, node);
    if (facts.integer("saturate", 1) == 0 || facts.integer("precision", 0) != 0) return false;
    const ops::Traits& traits = ops::traits(model_, node);
    return traits.is_cast() || (traits.encodes() && has_one_scale(node));
  }
  bool is_reading(ir::NodeId node) const {
    if (!is_known(node) || !is_float8(type_of(ir::operand(model_, node, 0)))) return false;
    if (!is_short_float(type_of(model_[node].results.front()))) return false;
    const ops::Traits& traits = ops::traits(model_, node);
    return traits.is_cast() || (traits.decodes() && has_one_scale(node));
  }

  bool has_one_scale(ir::NodeId node) const {
    const std::optional<double> scale = number(ir::operand(model_, node, 1));
    const float reciprocal = scale ? 1 / static_cast<float>(*scale) : 0;
    if (!(reciprocal > 0) || !std::isfinite(reciprocal)) return false;
    const ir::ValueId zero = ir::operand(model_, node, 2);
    return !zero.valid() || number(zero) == 0.0;
  }
  std::optional<double> number(ir::ValueId value) const {
    const tensor::Tensor* const constant = constant_of(model_, inference_, value);
    if (constant == nullptr || constant->count() != 1) return std::nullopt;
    return tensor::load_elements<double>(*constant).front();
  }

  const ir::Model& model_;
  const ops::Inference& inference_;
};

}  // namespace

bool is_float8_step(const ir::Model& model, const ops::Inference& inference, ir::NodeId node) {
  return PairReader(model, inference).is_step(node);
}

bool is_of_float8_pair(const ir::Model& model, const ops::Inference& inference, ir::NodeId node) {
  return PairReader(model, inference).is_of_pair(node);
}

}  // namespace assay::engine
