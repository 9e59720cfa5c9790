#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/rewriter.h"

namespace assay::engine {

// Puts nodes of the main graph into functions, each of which is a layer.
class LayerMaker {
 public:
  LayerMaker(ir::Model& model, ir::Rewriter& rewriter) : model_(model), rewriter_(rewriter) {}

  // Puts a call of one function in the place of these nodes, which are in order.
  void make(const std::vector<ir::NodeId>& group);

 private:
  std::vector<ir::ValueId> inputs_of(const std::vector<ir::NodeId>& group) const;
  void copy_nodes(const std::vector<ir::NodeId>& group, ir::GraphId body,
                  std::unordered_map<ir::ValueId, ir::ValueId>& copies);
  std::string name_of(const std::vector<ir::NodeId>& group);
  // That of the last node, and what else is used outside.
  std::vector<ir::ValueId> results_of(const std::vector<ir::NodeId>& group) const;
  void call(const std::vector<ir::NodeId>& group, ir::Symbol name, const std::vector<ir::ValueId>& inputs,
            const std::vector<ir::ValueId>& results);

  ir::Model& model_;
  ir::Rewriter& rewriter_;
  size_t number_ = 0;
};

}  // namespace assay::engine
