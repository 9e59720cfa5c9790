#pragma once

#include "debug/causes/observation.h"
#include "ir/edit.h"

namespace assay::debug {

// An accused layer that is computed exactly once more, with something else about it. Each call returns nullopt if the
// layer cannot be computed so, or has another shape then.
class LayerTrial {
 public:
  LayerTrial(const ir::Model& model, const Accused& accused);

  const ir::Model& model() const { return model_; }
  const ir::Node& node() const { return model_[accused_.node]; }
  const Accused& accused() const { return accused_; }
  std::string_view op() const { return model_.text(node().op); }
  // The operand as the side had it; an empty datum if that is not known.
  Datum operand(ir::ValueId value) const;
  Datum operand_at(size_t index) const;
  ir::Symbol intern(std::string_view text) { return ir::Edit(model_).intern(text); }
  std::span<const int64_t> keep(const std::vector<int64_t>& list) { return model_.arena().copy(std::span(list)); }

  std::optional<Numbers> with(const OperandSource& operands) const;
  std::optional<Numbers> with_operand(ir::ValueId value, const Datum& other) const;
  std::optional<Numbers> with_operands(const std::vector<ir::ValueId>& operands);
  std::optional<Numbers> with_attributes(const std::vector<ir::Attribute>& changed);
  std::optional<Numbers> as_operator(std::string_view op);

 private:
  ir::Model model_;
  const Accused& accused_;
  uint64_t max_memory_bytes_ = 0;  // other numbers may ask for results of any size
};

// True if the value is computed from constants alone.
bool is_constant(const ir::Model& model, ir::ValueId value);
// A tensor of whole numbers, of the type and shape of `like`.
Datum with_integers(const Datum& like, const std::vector<int64_t>& numbers);

}  // namespace assay::debug
