// Placement of a program's values: parts of a Concat in its result, and everything in the arena.
#include <algorithm>

#include "engine/program/program_builder.h"

namespace assay::engine {

// True if a kernel reads side by side what it writes so: operands of the result's shape are not turned on the way.
bool ProgramBuilder::reads_along(const Layer& layer, const TensorDesc& out) const {
  const std::vector<size_t> order = memory_order(out);
  if (order.empty()) return true;
  return std::ranges::all_of(
      layer.inputs, [&](const TensorDesc& in) { return in.dims != out.dims || in.strides[order.back()] == 1; });
}

// Nullopt: the layer writes its result elsewhere.
std::optional<ConcatPlace> ProgramBuilder::place_of(const Layer& layer, size_t device) const {
  const ir::ValueId result = model_[layer.node].results[0];
  if (layer.outputs.size() != 1 || !result.valid() || outputs_.contains(result)) return std::nullopt;
  const LayoutRule rule = this->device(device).layout_rule(layer);
  const Layout lies = layout_of(layer, device);
  for (const Layout layout : {Layout::plain, Layout::channels_last}) {
    if (rule != LayoutRule::follows && layout != lies) continue;
    std::optional<ConcatPlace> place = find_concat_place(model_, *program_.inference_, result, layout);
    if (!place || broken_.contains(place->concat) || in_parts_.contains(place->concat)) continue;
    const auto known = wholes_.find(place->concat);
    if (known == wholes_.end()) return place;
    const Slot& whole = program_.slots_[known->second];
    if (whole.desc == place->whole && whole.device == device) return place;
  }
  return std::nullopt;
}

ProgramBuilder::Choice ProgramBuilder::choose_at(Layer& layer, const ConcatPlace& place, size_t device) {
  set_as_they_lie(layer, layout_of(layer, device), device);
  layer.outputs[0] = place.part;
  return reads_along(layer, place.part) ? tactics_[device].choose(layer) : Choice();
}

// The slot of a Concat's result, which is there from the first of its parts on.
size_t ProgramBuilder::whole_slot(const ConcatPlace& place, size_t device) {
  const auto [known, is_new] = wholes_.try_emplace(place.concat, 0);
  if (!is_new) return known->second;
  const ir::ValueId result = model_[place.concat].results[0];
  const bool is_out = is_given_out(result, place.whole, device);
  known->second = add_slot({.place = is_out ? Slot::Place::output : Slot::Place::arena,
                            .value = result,
                            .desc = place.whole,
                            .device = device});
  return known->second;
}

size_t ProgramBuilder::part_slot(ir::ValueId value, const ConcatPlace& place, size_t device) {
  add_view(value, whole_slot(place, device), place.part, place.offset);
  return program_.slots_.size() - 1;
}

// A Concat of which parts are in place already: the others are copied there.
bool ProgramBuilder::add_parts(const Layer& layer) {
  const auto known = wholes_.find(layer.node);
  if (known == wholes_.end()) return false;
  const bool is_plain = has_layout(program_.slots_[known->second].desc, Layout::plain);
  const size_t device = program_.slots_[known->second].device;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const ConcatPlace place = operand_place(layer, i, is_plain ? Layout::plain : Layout::channels_last);
    const ir::ValueId operand = model_[layer.node].operands[i].value;
    const size_t from = slot_on(operand, device);
    const uint64_t offset = static_cast<uint64_t>(place.offset) * tensor::bit_width(place.part.dtype) / 8;
    const Slot& slot = program_.slots_[from];
    if (place.part.count() == 0 || (slot.base == known->second && slot.offset == offset)) continue;
    Step copy{.node = {}, .tactic = "copy", .kernel = {}};
    copy.inputs = {from};
    copy.kernel = this->device(device).make_copy(slot.desc.exists() ? slot.desc : layer.inputs[i], place.part);
    copy.device = device;
    copy.outputs = {part_slot(operand, place, device)};
    program_.steps_.push_back(std::move(copy));
  }
  return true;
}

// Values in an arena live from the step that makes them, or the first part of them, to the last that reads them; those
// that are given out, to the end.
std::vector<Lifetime> ProgramBuilder::find_lifetimes() const {
  std::vector<Lifetime> lifetimes(program_.slots_.size());
  std::vector<bool> is_made(lifetimes.size());
  for (size_t i = 0; i < program_.steps_.size(); ++i) {
    const Step& step = program_.steps_[i];
    for (const std::optional<size_t>& slot : step.outputs) {
      if (!slot) continue;
      Lifetime& lifetime = lifetimes[root(*slot)];
      lifetime.last = i;
      if (!is_made[root(*slot)]) lifetime.first = i;
      is_made[root(*slot)] = true;
    }
    for (const std::optional<size_t>& slot : step.inputs) {
      if (slot) lifetimes[root(*slot)].last = i;
    }
    for (const auto& [value, slot] : step.captured) lifetimes[root(slot)].last = i;
  }
  for (const ir::ValueId value : kept_) {
    const auto slot = program_.plain_slots_.find(value);
    if (slot != program_.plain_slots_.end()) lifetimes[root(slot->second)].last = program_.steps_.size();
  }
  return lifetimes;
}

void ProgramBuilder::place() {
  const size_t end = program_.steps_.size();
  std::vector<Lifetime> lifetimes = find_lifetimes();
  add_waits(lifetimes);
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    const Slot& slot = program_.slots_[i];
    const bool is_released =
        slot.place == Slot::Place::datum && !slot.base && !outputs_.contains(slot.value) && lifetimes[i].last < end;
    if (is_released) program_.steps_[lifetimes[i].last].released.push_back(i);
  }
  for (size_t device = 0; device < program_.devices_.count(); ++device) {
    for (size_t i = 0; i < lifetimes.size(); ++i) {
      const Slot& slot = program_.slots_[i];
      const bool is_in_arena = slot.place == Slot::Place::arena && !slot.base && slot.device == device;
      lifetimes[i].size_bytes = is_in_arena ? slot.desc.size_bytes() : 0;
    }
    program_.memory_[device].arena = plan_memory(lifetimes, this->device(device).alignment());
    for (size_t i = 0; i < lifetimes.size(); ++i) {
      Slot& slot = program_.slots_[i];
      if (!slot.base && slot.device == device) slot.offset = lifetimes[i].offset;
    }
  }
}

}  // namespace assay::engine
