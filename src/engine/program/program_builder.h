#pragma once

#include <set>

#include "engine/layers/concat_place.h"
#include "engine/program/find_parts.h"
#include "engine/program/memory_plan.h"
#include "engine/program/program.h"

namespace assay::engine {

// Plans a program: which kernel computes each node, in which layouts, and where in the arena values are.
class ProgramBuilder {
 public:
  ProgramBuilder(Program& program, const ProgramOptions& options);
  void build();

 private:
  using Choice = TacticSelector::Choice;

  void add_given_slots();
  void add_node(ir::NodeId node);
  static void release_packed(const Layer& layer, const std::vector<bool>& is_packed);
  bool add_layer(const Layer& layer);
  bool add_layer_on(Layer layer, size_t device);
  void require_replayed(const Layer& layer) const;
  void add_reference(ir::NodeId node);
  void add_part(const std::vector<ir::NodeId>& nodes);
  bool is_used_outside(ir::ValueId value, const std::set<ir::NodeId>& nodes) const;
  size_t datum_slot(ir::ValueId value);
  // Adds no step but slots that are views, if the node only looks at its operand in another way.
  bool add_views(const Layer& layer);
  void add_view(ir::ValueId value, size_t source, TensorDesc desc, int64_t offset);
  Choice choose(Layer& layer, size_t device);
  // Parts of a Concat are written where they are parts of its result.
  bool reads_along(const Layer& layer, const TensorDesc& out) const;
  std::optional<ConcatPlace> place_of(const Layer& layer, size_t device) const;
  Choice choose_at(Layer& layer, const ConcatPlace& place, size_t device);
  size_t whole_slot(const ConcatPlace& place, size_t device);
  size_t part_slot(ir::ValueId value, const ConcatPlace& place, size_t device);
  bool add_parts(const Layer& layer);
  std::optional<Layer> find_layer(ir::NodeId node) const;
  Layout layout_of(const Layer& layer, size_t device) const;
  bool casts_for_pictures(const Layer& layer, size_t device) const;
  void set_as_they_lie(Layer& layer, Layout outputs, size_t device) const;
  void set_layouts(Layer& layer, Layout layout) const;
  const Device& device(size_t number) const { return program_.devices_[number]; }
  PackedWeights& weights_of(size_t device) const {
    return device == host() ? *program_.packed_ : *program_.uploaded_weights_[device];
  }
  size_t host() const { return program_.devices_.host(); }
  // The first slot of a value on the device; if there is none, the first one of all.
  size_t nearest_slot(ir::ValueId value, size_t device) const;
  // The layout of that slot, or of what a transfer makes of it.
  TensorDesc nearest_desc(ir::ValueId value, size_t device) const;
  // The slot of a value with this layout on the device, made by a copy or a transfer if there is none.
  size_t slot_in(ir::ValueId value, const TensorDesc& desc, size_t device);
  // A slot of a value on the device, with any layout; made by a transfer if there is none.
  size_t slot_on(ir::ValueId value, size_t device);
  size_t add_transfer(size_t from, size_t device);
  bool is_given_out(ir::ValueId value, const TensorDesc& desc, size_t device) const;
  size_t add_slot(Slot slot);
  // A plain slot or a datum, for the reference.
  size_t readable_slot(ir::ValueId value);
  // Such a slot where the value was made, for parts.
  size_t passed_slot(ir::ValueId value);
  size_t operand_slot(const Step& step, ir::ValueId value) {
    return step.passes_operands ? passed_slot(value) : readable_slot(value);
  }
  void add_datum_step(Step step);
  void finish_outputs();
  void finish_output(ir::ValueId value);
  size_t root(size_t slot) const { return program_.slots_[slot].base.value_or(slot); }
  bool reads_any(const Step& step, const std::set<size_t>& roots) const;
  std::vector<Lifetime> find_lifetimes() const;
  void add_waits(std::vector<Lifetime>& lifetimes);
  void place();

  Program& program_;
  const ProgramOptions& options_;
  std::vector<TacticSelector> tactics_;  // by device
  const ir::Model& model_;
  std::set<ir::ValueId> outputs_;
  std::set<ir::NodeId> broken_;
  std::set<ir::NodeId> in_parts_;
  std::set<ir::ValueId> kept_;
  std::map<ir::ValueId, std::vector<size_t>> slots_of_;
  std::map<ir::NodeId, size_t> wholes_;  // slots of results of which parts are in place
  std::set<size_t> anywhere_;            // inputs and datums that may lie on any device
};

}  // namespace assay::engine
