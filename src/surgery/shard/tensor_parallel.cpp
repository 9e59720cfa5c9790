#include "surgery/shard/tensor_parallel.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/constants.h"
#include "ir/edit.h"
#include "ir/naming.h"
#include "ir/verify.h"
#include "surgery/shard/collective.h"
#include "surgery/shard/find_regions.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::ValueId;

// Brings regions into the model.
class TensorSharder {
 public:
  TensorSharder(ir::Model& model, const formats::ShardHints& hints, const ShapeFacts& facts)
      : model_(model), edit_(model), nodes_(model, edit_, hints), facts_(facts), ranks_(hints.nb_rank) {}

  TensorSharding run(const std::vector<Region>& regions) {
    for (const Region& region : regions) {
      for (const SlicedOperand& operand : region.slices()) gather(operand);
    }
    for (const Region& region : regions) apply(region);
    for (const auto& [key, operands] : operands_) slice(key, operands);
    return std::move(done_);
  }

 private:
  struct SliceKey {
    ValueId value;
    int64_t dim;
    int64_t groups;
    auto operator<=>(const SliceKey&) const = default;
  };

  void gather(const SlicedOperand& operand) {
    operands_[{operand.value, operand.split.dim, operand.split.groups}].push_back(operand);
  }

  void apply(const Region& region) {
    for (const auto& [node, attribute] : region.divided()) divide(node, attribute);
    for (const auto& [node, position] : region.targets()) divide_target(node, position);
    for (const NodeId node : region.divided_sizes()) divide_sizes(node);
    for (const auto& [value, split] : region.splits()) {
      divide_type(value, split.dim);
      done_.splits.emplace(value, SplitValue{.dim = -split.dim, .groups = split.groups});
    }
    add_sum(region);
  }

  void divide(NodeId node, std::string_view name) {
    const ir::Symbol symbol = edit_.intern(name);
    const int64_t number = model_.find_attribute(model_[node], name)->integer();
    edit_.set_attribute(node, ir::Attribute::of(symbol, number / ranks_));
    done_.steps.push_back(
        {"divide", ir::describe(model_, node), fmt::format("{} {} -> {}", name, number, number / ranks_)});
  }

  // A constant target is written anew; one that is computed is divided by a constant of ones and the number of ranks.
  void divide_target(NodeId node, size_t position) {
    const ValueId target = model_[node].operands[1].value;
    std::vector<std::optional<int64_t>> known = *facts_.elements(target);
    const bool is_constant = facts_.constant(target) != nullptr;
    std::vector<int64_t> numbers(known.size(), 1);
    numbers[position] = ranks_;
    if (is_constant) {
      for (size_t i = 0; i < known.size(); ++i) numbers[i] = *known[i];
      numbers[position] /= ranks_;
    }
    ValueId made = add_constant(model_[target].name, numbers);
    if (!is_constant) {
      nodes_.stand_before(node);
      made = nodes_.add_node("Div", std::array{target, made});
    }
    edit_.set_operand(node, 1, made);
    ir::drop_unused(edit_, target);
  }

  void divide_sizes(NodeId node) {
    const ValueId sizes = model_[node].operands[1].value;
    const std::optional<int64_t> size =
        facts_.dim(model_[node].results[0], facts_.axis_from_end(node, facts_.attributes(node).integer("axis", 0)));
    edit_.set_operand(
        node, 1, add_constant(model_[sizes].name, std::vector<int64_t>(model_[node].results.size(), *size / ranks_)));
    ir::drop_unused(edit_, sizes);
  }

  ValueId add_constant(ir::Symbol name, const std::vector<int64_t>& numbers) {
    return ir::add_initializer(edit_, {model_.main_graph(), ir::fresh_name(edit_, model_.text(name)),
                                       tensor::make_tensor(tensor::DType::int64, {static_cast<int64_t>(numbers.size())},
                                                           std::span<const int64_t>(numbers))});
  }

  void divide_type(ValueId value, int64_t from_end) {
    const ir::TypeId old = model_[value].type;
    if (!old || !model_[old].ranked || model_[old].dims.size() < static_cast<size_t>(from_end)) return;
    ir::Type type = model_[old];
    ir::DimId& dim = type.dims[type.dims.size() - static_cast<size_t>(from_end)];
    const std::optional<int64_t> size = model_.dims().as_constant(dim);
    if (!size) return;
    dim = model_.dims().constant(*size / ranks_);
    edit_.set_type(value, model_.types().intern(std::move(type)));
  }

  // The sum over ranks stands right behind the root; its bias is added to it once.
  void add_sum(const Region& region) {
    const NodeId root = region.root();
    const ValueId old = model_[root].results[0];
    const std::string name = printable(model_.text(model_[old].name));
    const std::vector<NodeId> readers = readers_of(model_, old);
    nodes_.stand_before(model_[root].next);
    ValueId sum = nodes_.add_collective(old, "all_reduce");
    if (model_[old].type) edit_.set_type(sum, model_[old].type);
    if (region.bias()) {
      const ValueId bias = model_[root].operands[*region.bias()].value;
      drop_operand(root, *region.bias());
      sum = nodes_.add_node("Add", std::array{sum, bias});
      if (model_[old].type) edit_.set_type(sum, model_[old].type);
    }
    nodes_.move_uses(old, sum, readers);
    done_.sums.emplace(old, sum);
    done_.steps.push_back({"all_reduce", name, ""});
  }

  void drop_operand(NodeId node, uint32_t index) {
    std::vector<ValueId> operands;
    for (const ir::Use& use : model_[node].operands) operands.push_back(use.value);
    operands[index] = ValueId{};
    while (!operands.back()) operands.pop_back();
    edit_.set_operands(node, operands);
  }

  // In place where nothing else reads the constant; otherwise its parts are a constant of their own.
  void slice(const SliceKey& key, const std::vector<SlicedOperand>& operands) {
    const tensor::Tensor whole = *facts_.constant(key.value);
    const size_t axis = whole.shape().size() - static_cast<size_t>(key.dim);
    const RankedWeight weight = {.value = is_alone(key.value, operands.size()) ? key.value : add_copy(key.value),
                                 .whole = whole,
                                 .part = {.axis = axis, .index = 0, .count = ranks_, .groups = key.groups}};
    if (weight.value != key.value) {
      for (const SlicedOperand& operand : operands) edit_.set_operand(operand.user, operand.index, weight.value);
      ir::drop_unused(edit_, key.value);
    }
    const tensor::Tensor part = slice_of(whole, weight.part);
    edit_.set_tensor(model_[weight.value].constant, part);
    if (model_[weight.value].type) edit_.set_type(weight.value, type_of(part));
    done_.steps.push_back({"slice", printable(model_.text(model_[weight.value].name)),
                           fmt::format("[{}] -> [{}]", fmt::join(whole.shape(), ", "), fmt::join(part.shape(), ", "))});
    done_.weights.push_back(weight);
  }

  bool is_alone(ValueId value, size_t reader_count) const {
    return model_[value].kind == ir::ValueKind::initializer && readers_of(model_, value).size() == reader_count;
  }

  ValueId add_copy(ValueId value) {
    const ir::Symbol name = ir::fresh_name(edit_, model_.text(model_[value].name));
    return ir::add_initializer(edit_, {model_.main_graph(), name, *facts_.constant(value)});
  }

  ir::TypeId type_of(const tensor::Tensor& tensor) {
    std::vector<ir::DimId> dims;
    for (const int64_t dim : tensor.shape()) dims.push_back(model_.dims().constant(dim));
    return model_.types().tensor(tensor.dtype(), std::move(dims));
  }

  ir::Model& model_;
  ir::Edit edit_;
  ShardNodes nodes_;
  const ShapeFacts& facts_;
  int64_t ranks_;
  std::map<SliceKey, std::vector<SlicedOperand>> operands_;
  TensorSharding done_;
};

// Tells of the node that is most like what was looked for: attention, or the last product.
[[noreturn]] void refuse(const std::vector<LeftWhole>& left, int64_t ranks) {
  const LeftWhole* nearest = left.empty() ? nullptr : &left.back();
  for (const LeftWhole& node : left) {
    if (node.is_attention) nearest = &node;
  }
  fail(ErrorCode::usage,
       "nothing can be split over {} ranks: no product with constant weights is fed by attention, or by functions of "
       "other such products alone{}",
       ranks, nearest ? fmt::format("; {}: {}", nearest->node, nearest->reason) : "");
}

}  // namespace

TensorSharding shard_tensors(ir::Model& model, const formats::ShardHints& hints) {
  check_shard_hints(hints);
  ops::Inference inference(model);
  inference.run();
  const ShapeFacts facts(model, inference);
  std::vector<LeftWhole> left;
  const std::vector<Region> regions = find_regions(facts, hints.nb_rank, left);
  if (regions.empty()) refuse(left, hints.nb_rank);
  TensorSharding done = TensorSharder(model, hints, facts).run(regions);
  done.left = std::move(left);
  return done;
}

void set_rank(ir::Model& model, const TensorSharding& sharding, int64_t rank) {
  ir::Edit edit(model);
  for (const RankedWeight& weight : sharding.weights) {
    Part part = weight.part;
    part.index = rank;
    edit.set_tensor(model[weight.value].constant, slice_of(weight.whole, part));
  }
}

}  // namespace assay::surgery
