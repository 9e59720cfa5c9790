// Slots of values on the devices that read them: copies to other layouts, transfers, and waits for these.
#include <algorithm>
#include <array>
#include <map>

#include "engine/program/program_builder.h"

namespace assay::engine {
namespace {

bool lies_alike(const TensorDesc& a, const TensorDesc& b) {
  if (a.dims != b.dims) return false;
  if (a.strides == b.strides) return true;
  return std::ranges::any_of(std::array{Layout::plain, Layout::channels_last},
                             [&](Layout layout) { return has_layout(a, layout) && has_layout(b, layout); });
}

}  // namespace

// Memory of the caller is the host's.
bool ProgramBuilder::is_given_out(ir::ValueId value, const TensorDesc& desc, size_t device) const {
  return device == host() && outputs_.contains(value) && has_layout(desc, Layout::plain);
}

size_t ProgramBuilder::nearest_slot(ir::ValueId value, size_t device) const {
  const std::vector<size_t>& slots = slots_of_.at(value);
  const auto near = std::ranges::find(slots, device, [&](size_t slot) { return program_.slots_[slot].device; });
  return near == slots.end() ? slots.front() : *near;
}

TensorDesc ProgramBuilder::nearest_desc(ir::ValueId value, size_t device) const {
  const Slot& slot = program_.slots_[nearest_slot(value, device)];
  const bool stays = slot.device == device || !slot.desc.exists() || is_dense(slot.desc);
  return stays ? slot.desc : make_desc(slot.desc.dtype, slot.desc.dims);
}

size_t ProgramBuilder::slot_in(ir::ValueId value, const TensorDesc& desc, size_t device) {
  const size_t first = slot_on(value, device);
  for (const size_t slot : slots_of_.at(value)) {
    const Slot& known = program_.slots_[slot];
    if (known.device == device && (!known.desc.exists() || lies_alike(known.desc, desc))) return slot;
  }
  Step copy{.node = {}, .tactic = "copy", .kernel = this->device(device).make_copy(program_.slots_[first].desc, desc)};
  copy.device = device;
  copy.inputs = {first};
  const bool is_out = is_given_out(value, desc, device);
  const size_t made = add_slot(
      {.place = is_out ? Slot::Place::output : Slot::Place::arena, .value = value, .desc = desc, .device = device});
  copy.outputs = {made};
  program_.steps_.push_back(std::move(copy));
  return made;
}

size_t ProgramBuilder::slot_on(ir::ValueId value, size_t device) {
  const size_t near = nearest_slot(value, device);
  const Slot slot = program_.slots_[near];
  if (slot.device == device) return near;
  if (slot.place == Slot::Place::constant && !slot.base) {  // uploaded before the first run
    Slot there = slot;
    there.device = device;
    return add_slot(std::move(there));
  }
  if (anywhere_.contains(root(near)) && slot.desc.exists()) {  // copied there when a run looks at it
    Slot there = slot;
    there.device = device;
    there.base = root(near);
    return add_slot(std::move(there));
  }
  if (slot.device != host() && device != host()) return add_transfer(slot_on(value, host()), device);
  const bool is_whole = !slot.desc.exists() || is_dense(slot.desc);
  return add_transfer(is_whole ? near : slot_in(value, make_desc(slot.desc.dtype, slot.desc.dims), slot.device),
                      device);
}

size_t ProgramBuilder::add_transfer(size_t from, size_t device) {
  Slot slot = program_.slots_[from];
  if (!slot.desc.exists()) slot.desc = find_desc(model_, *program_.inference_, slot.value).value_or(TensorDesc());
  Step step{.node = {}, .tactic = "transfer", .kernel = nullptr};
  step.is_transfer = true;
  step.device = device == host() ? slot.device : device;
  step.inputs = {from};
  const bool is_out = is_given_out(slot.value, slot.desc, device);
  const size_t made = add_slot({.place = is_out ? Slot::Place::output : Slot::Place::arena,
                                .value = slot.value,
                                .desc = slot.desc,
                                .device = device});
  step.outputs = {made};
  program_.steps_.push_back(std::move(step));
  return made;
}

// A device that has it already is asked first; what only the host has goes to any device from there on.
size_t ProgramBuilder::passed_slot(ir::ValueId value) {
  const std::vector<size_t>& slots = slots_of_.at(value);
  const auto there = std::ranges::find_if(slots, [&](size_t slot) { return program_.slots_[slot].device != host(); });
  if (there == slots.end() || anywhere_.contains(root(*there))) {
    const size_t passed = readable_slot(value);
    const Slot::Place place = program_.slots_[root(passed)].place;
    if (place == Slot::Place::input || place == Slot::Place::datum) anywhere_.insert(root(passed));
    return passed;
  }
  const Slot made = program_.slots_[*there];
  const size_t passed = slot_in(value, make_desc(made.desc.dtype, made.desc.dims), made.device);
  Slot& whole = program_.slots_[root(passed)];
  if (whole.place == Slot::Place::arena) whole.place = Slot::Place::output;
  return passed;
}

// A step on datums. Parts leave what they make where it lies.
void ProgramBuilder::add_datum_step(Step step) {
  for (const std::optional<size_t>& slot : step.outputs) {
    if (slot && step.passes_operands) anywhere_.insert(*slot);
  }
  program_.steps_.push_back(std::move(step));
}

bool ProgramBuilder::reads_any(const Step& step, const std::set<size_t>& roots) const {
  return std::ranges::any_of(step.inputs, [&](const auto& slot) { return slot && roots.contains(root(*slot)); }) ||
         std::ranges::any_of(step.captured, [&](const auto& one) { return roots.contains(root(one.second)); });
}

// A step that reads downloaded memory, or what another device has made, waits for that device. Memory that pending work
// reads or writes, of the host or of datums, lives until then.
void ProgramBuilder::add_waits(std::vector<Lifetime>& lifetimes) {
  struct Open {
    std::vector<size_t> slots;  // that have to stay
    std::set<size_t> written;
  };
  std::map<size_t, Open> open;  // by device
  for (size_t i = 0; i < program_.steps_.size(); ++i) {
    Step& step = program_.steps_[i];
    for (auto& [device, pending] : open) {
      if (step.device == device || !reads_any(step, pending.written)) continue;
      step.waits.push_back(device);
      for (const size_t slot : pending.slots) lifetimes[slot].last = std::max(lifetimes[slot].last, i);
      pending = {};
    }
    if (step.device == host()) continue;
    Open& pending = open[step.device];
    for (const auto* slots : {&step.inputs, &step.outputs}) {
      for (const std::optional<size_t>& slot : *slots) {
        if (slot && program_.slots_[root(*slot)].device == host()) pending.slots.push_back(root(*slot));
      }
    }
    for (const std::optional<size_t>& slot : step.outputs) {
      if (slot) pending.written.insert(root(*slot));
    }
  }
  for (const auto& [device, pending] : open) {
    for (const size_t slot : pending.slots) lifetimes[slot].last = program_.steps_.size();
  }
}

}  // namespace assay::engine
