#include <algorithm>

#include "ir/model.h"

namespace assay::ir {
namespace {

template <typename T>
std::span<T> copied(std::span<T> items, Arena& arena) {
  T* target = arena.allocate<T>(items.size());
  std::ranges::copy(items, target);
  return {target, items.size()};
}

}  // namespace

// Copies the arrays that the copy may edit; lists in attributes are never edited.
void Model::copy_arrays(Node& node) {
  node.operands = copied(node.operands, *arena_);
  node.results = copied(node.results, *arena_);
  node.attributes = copied(node.attributes, *arena_);
}

// Links the uses of each value in the order of the original.
void Model::copy_uses(const Model& original) {
  const auto twin = [&](const Use* use) { return use == nullptr ? nullptr : &nodes_[use->user].operands[use->index]; };
  for (uint32_t i = 0; i < values_.size(); ++i) {
    Value& value = values_[ValueId{i}];
    for (const Use* use = value.first_use; use != nullptr; use = use->next) {
      Use* own = twin(use);
      own->previous = twin(use->previous);
      own->next = twin(use->next);
    }
    value.first_use = twin(original.values_[ValueId{i}].first_use);
  }
}

Model Model::copy() const {
  Model result;
  result.header_ = header_;
  result.functions_ = functions_;
  result.nodes_ = nodes_;
  result.values_ = values_;
  result.graphs_ = graphs_;
  result.tensors_ = tensors_;
  result.symbols_ = symbols_;
  result.dims_ = dims_;
  result.types_ = types_;
  result.origins_ = origins_;
  result.held_ = held_;
  result.hold(arena_);
  result.source_ = source_;
  result.forgotten_names_ = forgotten_names_;
  result.edited_ = edited_;
  result.header_dirty_ = header_dirty_;
  for (uint32_t i = 0; i < result.nodes_.size(); ++i) result.copy_arrays(result.nodes_[NodeId{i}]);
  result.copy_uses(*this);
  return result;
}

}  // namespace assay::ir
