#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "match/attention.h"
#include "surgery/shard/shape_facts.h"

namespace assay::surgery {

// The sequence dim of each value; values without one are omitted.
using SequenceDims = std::map<ir::ValueId, int64_t>;

// Follows the sequence, along which attention layers work, through the nodes of the main graph.
class SequenceFlow {
 public:
  SequenceFlow(const ir::Model& model, const ops::Inference& inference,
               const std::vector<match::AttentionLayer>& layers);

  std::optional<int64_t> rank(ir::ValueId value) const { return facts_.rank(value); }
  // The dims of Q, K and V as the products of the layer read them; of values whose rank is known.
  SequenceDims of_layer(const match::AttentionLayer& layer) const;
  // Before Q, K and V of all layers. If a value is reached along two dims, that of Q counts.
  SequenceDims before_layers() const;
  // After these values; stops at values gathered for a layer (its K and V).
  SequenceDims behind(const SequenceDims& values) const;
  SequenceDims behind_layers() const;
  // The first node that joins, orders or sums up what lies along the sequence of a split value, such as Concat.
  ir::NodeId find_joiner(const SequenceDims& split) const;
  // The first node that counts positions by the shape of a split value, such as Range, Trilu, or Slice of a constant.
  ir::NodeId find_counter(const SequenceDims& split) const;

 private:
  std::optional<int64_t> moved(const ir::Use& use, int64_t dim, ir::ValueId result) const;
  std::optional<int64_t> gathered(const ir::Use& use, int64_t dim) const;
  std::optional<int64_t> multiplied(const ir::Use& use, int64_t dim, ir::ValueId result) const;
  std::optional<int64_t> aligned(ir::ValueId value, int64_t dim, ir::ValueId result) const;
  void follow_back(ir::ValueId value, int64_t dim, SequenceDims& found) const;
  bool joins(const ir::Use& use, int64_t dim) const;
  bool counts(const ir::Use& use) const;
  bool takes_size(const ir::Use& use, ir::ValueId split, int64_t dim) const;
  bool passes_sizes_on(const ir::Use& use) const;
  std::vector<const ir::Use*> size_uses(const SequenceDims& split) const;

  ShapeFacts facts_;
  const std::vector<match::AttentionLayer>& layers_;
  std::set<ir::ValueId> gathered_;  // K and V
};

}  // namespace assay::surgery
