#pragma once

#include <set>

#include "engine/program.h"

namespace assay::engine {

// Plans a program: which kernel computes each node, in which layouts, and where in the arena values are.
class ProgramBuilder {
 public:
  ProgramBuilder(Program& program, const std::vector<ir::ValueId>& kept);
  void build();

 private:
  using Choice = std::pair<std::unique_ptr<Kernel>, std::string_view>;

  void add_given_slots();
  void add_node(ir::NodeId node);
  bool add_layer(ir::NodeId node);
  void add_reference(ir::NodeId node);
  Choice choose(Layer& layer);
  Layout layout_of(const Layer& layer) const;
  void set_layouts(Layer& layer, Layout layout);
  // The slot of a value in a layout, by a copy where it is in the other one.
  size_t slot_in(ir::ValueId value, const TensorDesc& desc);
  size_t add_slot(Slot slot);
  // A plain slot or a datum, for the reference.
  size_t readable_slot(ir::ValueId value);
  void finish_outputs();
  void place();

  Program& program_;
  const ir::Model& model_;
  std::set<ir::ValueId> outputs_;
  std::set<ir::ValueId> kept_;
  std::map<ir::ValueId, std::vector<size_t>> slots_of_;
};

}  // namespace assay::engine
