#include "engine/lowering/moved_dims.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/queries.h"
#include "ops/traits.h"
#include "passes/reshapes.h"

namespace assay::engine {

bool has_elements(const std::optional<tensor::Shape>& shape) {
  return shape && !shape->empty() && std::ranges::count(*shape, 0) == 0;
}

MovedDims::MovedDims(tensor::Shape source) : source_(std::move(source)) {
  for (const int64_t dim : source_) {
    before_.emplace_back();
    if (dim == 1) continue;
    before_.back().push_back(sizes_.size());
    sizes_.push_back(dim);
  }
  behind_ = before_;
}

bool MovedDims::follow(passes::PassRun& run, ir::NodeId move, const tensor::Shape& result) {
  if (ops::traits(run.model(), move).moves != ops::Moves::by_dims) return reshape(result);
  std::vector<int64_t> order = run.facts(move).integers("perm");
  if (order.empty()) {
    order.resize(behind_.size());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  transpose(order);
  return true;
}

void MovedDims::transpose(std::span<const int64_t> order) {
  std::vector<Factors> turned;
  for (const int64_t axis : order) turned.push_back(behind_[static_cast<size_t>(axis)]);
  behind_ = std::move(turned);
}

bool MovedDims::reshape(const tensor::Shape& dims) {
  std::vector<Factors> made;
  Factors left = joined(behind_);
  std::ranges::reverse(left);  // the first one at the end
  for (const int64_t dim : dims) {
    made.emplace_back();
    for (int64_t wanted = dim; wanted > 1;) {
      if (left.empty()) return false;
      const size_t factor = left.back();
      left.pop_back();
      if (sizes_[factor] > wanted && sizes_[factor] % wanted == 0) left.push_back(divide(factor, wanted));
      if (wanted % sizes_[factor] != 0) return false;
      wanted /= sizes_[factor];
      made.back().push_back(factor);
    }
  }
  if (!left.empty()) return false;
  behind_ = std::move(made);
  return true;
}

size_t MovedDims::divide(size_t factor, int64_t outer) {
  const size_t inner = sizes_.size();
  sizes_.push_back(sizes_[factor] / outer);
  sizes_[factor] = outer;
  for (std::vector<Factors>* const dims : {&before_, &behind_}) {
    for (Factors& factors : *dims) {
      const auto at = std::ranges::find(factors, factor);
      if (at != factors.end()) factors.insert(at + 1, inner);
    }
  }
  return inner;
}

void MovedDims::set_last(int64_t size) {
  const size_t axis = *last_axis();
  source_[axis] = size;
  before_[axis] = behind_.back() = {sizes_.size()};
  sizes_.push_back(size);
}

tensor::Shape MovedDims::dims() const {
  tensor::Shape dims;
  for (const Factors& factors : behind_) dims.push_back(size(factors));
  return dims;
}

bool MovedDims::keeps_order() const { return joined(before_) == joined(behind_); }

std::optional<size_t> MovedDims::last_axis() const {
  if (behind_.empty() || behind_.back().empty()) return std::nullopt;
  const auto found = std::ranges::find(before_, behind_.back());
  return found == before_.end() ? std::nullopt : std::optional(static_cast<size_t>(found - before_.begin()));
}

MovedDims::Factors MovedDims::joined(const std::vector<Factors>& dims) {
  Factors all;
  for (const Factors& factors : dims) all.insert(all.end(), factors.begin(), factors.end());
  return all;
}

int64_t MovedDims::size(const Factors& factors) const {
  int64_t size = 1;
  for (const size_t factor : factors) size *= sizes_[factor];
  return size;
}

MovedDims::Steps MovedDims::steps() const {
  Steps steps;
  const Factors from = joined(before_), to = joined(behind_);
  tensor::Shape now = source_;
  if (from != to) {
    tensor::Shape factors, turned;
    for (const size_t factor : from) factors.push_back(sizes_[factor]);
    for (const size_t factor : to) {
      steps.order.push_back(std::ranges::find(from, factor) - from.begin());
      turned.push_back(sizes_[factor]);
    }
    if (factors != source_) steps.first = std::move(factors);
    now = std::move(turned);
  }
  if (now != dims()) steps.last = dims();
  return steps;
}

size_t MovedDims::node_count() const {
  const Steps steps = this->steps();
  return (steps.first.empty() ? 0 : 1) + (steps.order.empty() ? 0 : 1) + (steps.last.empty() ? 0 : 1);
}

ir::PatchValue MovedDims::add(passes::PassRun& run, ir::Patch& patch, ir::PatchValue source) const {
  const Steps steps = this->steps();
  if (!steps.first.empty()) source = passes::add_reshape(patch, source, steps.first);
  if (!steps.order.empty()) source = passes::add_transpose(run, patch, source, steps.order);
  if (!steps.last.empty()) source = passes::add_reshape(patch, source, steps.last);
  return source;
}

std::optional<MovedDims> follow_moves(passes::PassRun& run, passes::Inferred& inferred,
                                      std::span<const ir::NodeId> moves) {
  const std::optional<tensor::Shape> source = inferred.shape(ir::operand(run.model(), moves.back(), 0));
  if (!has_elements(source)) return std::nullopt;
  MovedDims dims(*source);
  for (size_t i = moves.size(); i-- > 0;) {
    const std::optional<tensor::Shape> made = inferred.shape(ir::result(run.model(), moves[i]));
    if (!made || !dims.follow(run, moves[i], *made)) return std::nullopt;
  }
  return dims;
}

}  // namespace assay::engine
