#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "surgery/shard/shape_facts.h"

namespace assay::surgery {

// The split of a value over ranks: each has one of as many equal parts of a dim.
struct Split {
  int64_t dim = 1;        // from the end
  int64_t extent = 0;     // of that dim, in the whole
  int64_t groups = 1;     // one after the other in the dim, each of which is split
  bool is_cache = false;  // of attention: each rank reads and writes its own part

  bool is_same(const Split& other) const {
    return dim == other.dim && extent == other.extent && groups == other.groups;
  }
};

// A constant operand of which each rank has its part.
struct SlicedOperand {
  ir::NodeId user;
  uint32_t index = 0;
  ir::ValueId value;
  Split split;
};

// The part of a graph that each rank computes for its share: from products whose weights are split by columns up to one
// whose weights are split by rows, the root. The sum of the root's results over all ranks is its original result.
class Region {
 public:
  Region(const ShapeFacts& facts, int64_t ranks, ir::NodeId root) : facts_(facts), ranks_(ranks), root_(root) {}

  // Walks back from the root. Roots of other regions give whole values. Error (usage) for heads that cannot be shared;
  // any other Error says why the root does not end a region.
  void find(const std::set<ir::NodeId>& other_roots);

  ir::NodeId root() const { return root_; }
  const std::set<ir::NodeId>& nodes() const { return nodes_; }  // without the root
  const std::set<ir::NodeId>& attentions() const { return attentions_; }
  const std::map<ir::ValueId, Split>& splits() const { return splits_; }
  const std::vector<SlicedOperand>& slices() const { return slices_; }
  const std::vector<std::pair<ir::NodeId, std::string_view>>& divided() const { return divided_; }
  const std::map<ir::NodeId, size_t>& targets() const { return targets_; }
  const std::set<ir::NodeId>& divided_sizes() const { return divided_sizes_; }
  const std::set<ir::NodeId>& columns() const { return columns_; }
  std::optional<uint32_t> bias() const { return bias_; }

  // For the rules of operators. Each says what one node needs, so that a result of it is split.
  const ShapeFacts& facts() const { return facts_; }
  int64_t ranks() const { return ranks_; }
  void need(ir::NodeId user, uint32_t index, const Split& split);
  // Needs the split, unless the operand is broadcast along that dim: then it stays whole.
  void need_broadcast(ir::NodeId user, uint32_t index, const Split& split);
  // An operand whose producer joins parts that are already split.
  void need_joined(ir::NodeId user, uint32_t index, const Split& split);
  // Another result of the node, split together with the requested one.
  void also_split(ir::ValueId value, const Split& split) { splits_.try_emplace(value, split); }
  // A split value that may also be an output of the graph, as it is or cast to another type.
  void give_cache(ir::ValueId value, Split split);
  void divide(ir::NodeId node, std::string_view attribute);
  // The element of a Reshape's target that is divided.
  void divide_target(ir::NodeId reshape, size_t position) { targets_.emplace(reshape, position); }
  // The sizes of the results of a Split are divided.
  void divide_sizes(ir::NodeId node) { divided_sizes_.insert(node); }
  void note_columns(ir::NodeId node) { columns_.insert(node); }
  void note_nonlinear() { is_nonlinear_ = true; }
  void note_attention(ir::NodeId node) { attentions_.insert(node); }
  // The operand of the root that is added once, to the sum over ranks.
  void keep_bias(uint32_t index) { bias_ = index; }

 private:
  void follow(ir::ValueId value, const Split& split, const std::set<ir::NodeId>& other_roots);
  void slice(const SlicedOperand& operand, const tensor::Tensor& tensor);
  void check_readers() const;
  void check_readers(ir::ValueId value) const;
  std::string name_of(ir::ValueId value) const;

  const ShapeFacts& facts_;
  int64_t ranks_;
  ir::NodeId root_;
  std::set<ir::NodeId> nodes_;
  std::set<ir::NodeId> attentions_;
  std::set<ir::NodeId> columns_;
  std::map<ir::ValueId, Split> splits_;
  std::set<std::pair<ir::NodeId, uint32_t>> wanted_;  // operands that are split
  std::vector<ir::ValueId> pending_;
  std::vector<SlicedOperand> slices_;
  std::vector<std::pair<ir::NodeId, std::string_view>> divided_;
  std::map<ir::NodeId, size_t> targets_;
  std::set<ir::NodeId> divided_sizes_;
  std::optional<uint32_t> bias_;
  bool is_nonlinear_ = false;
};

}  // namespace assay::surgery
