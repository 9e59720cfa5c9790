#include "engine/lowering/wide_halves.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "engine/layers/layer.h"
#include "ir/constants.h"
#include "ops/inference.h"
#include "ops/traits.h"
#include "passes/handing_on.h"
#include "schema/imports.h"
#include "schema/schema.h"
#include "tensor/casts.h"

namespace assay::engine {
namespace {

using tensor::DType;

constexpr int64_t kFirstWithCast = 9;  // that names types by number

// True for operators that only move elements: halves stay halves unless an operand is float32 already.
bool only_moves(const ops::Traits& traits) {
  return traits.is(ops::Nature::movement) && traits.range != ops::ValueRange::unknown;
}

tensor::Tensor widened(const tensor::Tensor& halves) {
  constexpr uint64_t kBlock = 4096;
  std::vector<float> floats(halves.count());
  std::array<double, kBlock> block;
  for (uint64_t first = 0; first < floats.size(); first += kBlock) {
    const std::span part = std::span(block).first(std::min<uint64_t>(kBlock, floats.size() - first));
    tensor::load(halves.dtype(), halves.bytes(), first, part);
    std::ranges::transform(part, floats.begin() + static_cast<ptrdiff_t>(first),
                           [](double x) { return static_cast<float>(x); });
  }
  return tensor::make_tensor<float>(DType::float32, halves.shape(), floats);
}

class Widener {
 public:
  Widener(ir::Model& model, ir::Rewriter& rewriter, DType half, bool rounded)
      : model_(model), rewriter_(rewriter), edit_(rewriter.edit()), half_(half), rounded_(rounded), inference_(model) {
    inference_.run();
  }

  void run() {
    std::vector<ir::NodeId> nodes;
    for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) nodes.push_back(node);
    for (const ir::NodeId node : nodes) {
      if (!can_be_wide(node)) continue;
      if (!rewriter_.record("compute {0} in float32", node)) return;
      widen(node);
    }
  }

 private:
  bool is_half(ir::ValueId value) const {
    if (!value.valid() || halves_.contains(value)) return value.valid();
    const ir::TensorId constant = model_[value].constant;
    if (constant.valid()) return !model_[constant].sparse && model_[constant].tensor.dtype() == half_;
    const ops::Type& type = inference_.type(value);
    return type.is_tensor() && type.dtype == half_;
  }

  bool is_tensor(ir::ValueId value) const {
    return !value.valid() || halves_.contains(value) || model_[value].constant.valid() ||
           inference_.type(value).is_tensor();
  }

  // True if the node has tensors only, float32 is a type of all its halves, and each result has that of an operand.
  bool can_be_wide(ir::NodeId id) const {
    const ir::Node& node = model_[id];
    const ops::Callee& callee = inference_.callees()[id];
    if (node.is_outputs || callee.schema == nullptr || callee.function != nullptr) return false;
    if (ops::traits(model_, id).is(ops::Nature::conversion)) return false;
    if (!model_.bodies(node).empty()) return false;
    const auto has_tensor = [&](const ir::Use& use) { return is_tensor(use.value); };
    if (!std::ranges::all_of(node.operands, has_tensor)) return false;
    if (!std::ranges::all_of(node.results, [&](ir::ValueId value) { return is_tensor(value); })) return false;
    const bool moves = only_moves(ops::traits(model_, id));
    const auto is_wide = [&](const ir::Use& use) { return wide_.contains(use.value); };
    if (moves && std::ranges::none_of(node.operands, is_wide)) return false;
    std::vector<std::string_view> variables;
    for (uint32_t i = 0; i < node.operands.size(); ++i) {
      if (!is_half(node.operands[i].value)) continue;
      const schema::ArgumentSchema* const argument = callee.schema->input(i);
      if (argument == nullptr || (argument->types.tensors & schema::set_of(DType::float32)) == 0) return false;
      variables.push_back(argument->variable);
    }
    for (uint32_t i = 0; i < node.results.size(); ++i) {
      if (!is_half(node.results[i])) continue;
      const schema::ArgumentSchema* const argument = callee.schema->output(i);
      const bool follows = argument != nullptr && !argument->variable.empty() &&
                           std::ranges::find(variables, argument->variable) != variables.end();
      if (!follows) return false;
    }
    return !variables.empty();
  }

  void widen(ir::NodeId id) {
    for (uint32_t i = 0; i < model_[id].operands.size(); ++i) {
      const ir::ValueId value = model_[id].operands[i].value;
      if (is_half(value)) edit_.set_operand(id, i, wide(value, id));
    }
    const std::vector<ir::ValueId> results(model_[id].results.begin(), model_[id].results.end());
    for (const ir::ValueId result : results) {
      if (is_half(result)) hand_on(id, result);
    }
  }

  // The value in float32, for nodes from `user` on.
  ir::ValueId wide(ir::ValueId value, ir::NodeId user) {
    ir::ValueId& known = wide_[value];
    if (known.valid()) return known;
    const tensor::Tensor* const constant = constant_of(model_, inference_, value);
    if (constant != nullptr) {
      known = ir::add_initializer(edit_, {model_.main_graph(), fresh_name(value), widened(*constant)});
    } else {
      known = add_cast(value, DType::float32, fresh_name(value), user);
      edit_.origins().merge(model_[known].producer, {user});
    }
    return known;
  }

  // A node's result becomes float32; what it was is cast from that, under its name.
  void hand_on(ir::NodeId id, ir::ValueId result) {
    const ir::TypeId type = model_[result].type;
    const ir::Symbol name = model_[result].name;
    edit_.rename(result, fresh_name(result));
    const ir::ValueId half = add_cast(result, half_, name, model_[id].next);
    edit_.replace_uses(result, half);
    edit_.set_operand(model_[half].producer, 0, result);
    edit_.origins().replace(result, half);
    edit_.origins().merge(model_[half].producer, {id});
    edit_.set_type(half, type);
    if (type.valid()) edit_.set_type(result, with_dtype(type, DType::float32));
    halves_.insert(half);
    if (!rounded_) wide_[half] = result;
  }

  ir::Symbol fresh_name(ir::ValueId value) {
    return ir::fresh_name(edit_, fmt::format("{}_float32", model_.text(model_[value].name)));
  }

  ir::TypeId with_dtype(ir::TypeId id, DType dtype) {
    ir::Type type = model_[id];
    type.dtype = dtype;
    return model_.types().intern(std::move(type));
  }

  ir::ValueId add_cast(ir::ValueId value, DType dtype, ir::Symbol name, ir::NodeId before) {
    const ir::NodeId node = passes::add_cast(edit_, {model_.main_graph(), value, name, before}, dtype);
    const ir::ValueId result = model_[node].results.front();
    if (const ir::TypeId type = model_[value].type; type.valid()) edit_.set_type(result, with_dtype(type, dtype));
    return result;
  }

  ir::Model& model_;
  ir::Rewriter& rewriter_;
  ir::Edit& edit_;
  DType half_;
  bool rounded_;
  ops::Inference inference_;
  std::unordered_map<ir::ValueId, ir::ValueId> wide_;
  std::unordered_set<ir::ValueId> halves_;  // that were made here, which inference has not seen
};

bool has_halves(const ir::Model& model, DType half) {
  for (uint32_t i = 0; i < model.value_slots(); ++i) {
    const ir::Value& value = model[ir::ValueId{i}];
    if (!value.alive) continue;
    if (value.type.valid() && model[value.type].dtype == half) return true;
    if (value.constant.valid() && model[value.constant].tensor.dtype() == half) return true;
  }
  return false;
}

}  // namespace

void widen_halves(ir::Model& model, ir::Rewriter& rewriter, DType half, bool rounded) {
  if (schema::imported_version(model) < kFirstWithCast || !has_halves(model, half)) return;
  Widener(model, rewriter, half, rounded).run();
}

}  // namespace assay::engine
