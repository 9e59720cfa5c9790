// Where a program's values lie: parts of a Concat in its result, and everything in the arena.
#include <algorithm>

#include "engine/memory_plan.h"
#include "engine/program_builder.h"

namespace assay::engine {

// Whether a kernel reads side by side what it writes so: operands of the result's shape are not turned on the way.
bool ProgramBuilder::reads_along(const Layer& layer, const TensorDesc& out) const {
  const std::vector<size_t> order = memory_order(out);
  if (order.empty()) return true;
  return std::ranges::all_of(
      layer.inputs, [&](const TensorDesc& in) { return in.dims != out.dims || in.strides[order.back()] == 1; });
}

// Nullopt: the layer writes its result elsewhere.
std::optional<ConcatPlace> ProgramBuilder::place_of(const Layer& layer) const {
  const ir::ValueId result = model_[layer.node].results[0];
  if (layer.outputs.size() != 1 || !result.valid() || outputs_.contains(result)) return std::nullopt;
  const LayoutRule rule = program_.device_.layout_rule(layer);
  const Layout lies = layout_of(layer);
  for (const Layout layout : {Layout::plain, Layout::channels_last}) {
    if (rule != LayoutRule::follows && layout != lies) continue;
    std::optional<ConcatPlace> place = find_concat_place(model_, *program_.inference_, result, layout);
    if (!place || broken_.contains(place->concat) || in_parts_.contains(place->concat)) continue;
    const auto known = wholes_.find(place->concat);
    if (known == wholes_.end() || program_.slots_[known->second].desc == place->whole) return place;
  }
  return std::nullopt;
}

ProgramBuilder::Choice ProgramBuilder::choose_at(Layer& layer, const ConcatPlace& place) {
  set_as_they_lie(layer, layout_of(layer));
  layer.outputs[0] = place.part;
  return reads_along(layer, place.part) ? tactics_.choose(layer) : Choice();
}

// The slot of a Concat's result, which is there from the first of its parts on.
size_t ProgramBuilder::whole_slot(const ConcatPlace& place) {
  const auto [known, is_new] = wholes_.try_emplace(place.concat, 0);
  if (!is_new) return known->second;
  const ir::ValueId result = model_[place.concat].results[0];
  const bool is_given_out = outputs_.contains(result) && has_layout(place.whole, Layout::plain);
  known->second = add_slot(
      {.place = is_given_out ? Slot::Place::output : Slot::Place::arena, .value = result, .desc = place.whole});
  return known->second;
}

size_t ProgramBuilder::part_slot(ir::ValueId value, const ConcatPlace& place) {
  add_view(value, whole_slot(place), place.part, place.offset);
  return program_.slots_.size() - 1;
}

// A Concat of which parts are in place already: the others are copied there.
bool ProgramBuilder::add_parts(ir::NodeId node) {
  const auto known = wholes_.find(node);
  if (known == wholes_.end()) return false;
  const std::optional<Layer> layer = find_layer(node);
  const bool is_plain = has_layout(program_.slots_[known->second].desc, Layout::plain);
  for (size_t i = 0; i < layer->inputs.size(); ++i) {
    const ConcatPlace place = operand_place(*layer, i, is_plain ? Layout::plain : Layout::channels_last);
    const ir::ValueId operand = model_[node].operands[i].value;
    const size_t from = slots_of_.at(operand).front();
    const uint64_t offset = static_cast<uint64_t>(place.offset) * tensor::bit_width(place.part.dtype) / 8;
    const Slot& slot = program_.slots_[from];
    if (place.part.count() == 0 || (slot.base == known->second && slot.offset == offset)) continue;
    Step copy{.node = {}, .tactic = "copy", .kernel = {}};
    copy.inputs = {from};
    copy.kernel = program_.device_.make_copy(slot.desc.exists() ? slot.desc : layer->inputs[i], place.part);
    copy.outputs = {part_slot(operand, place)};
    program_.steps_.push_back(std::move(copy));
  }
  return true;
}

// Values in the arena live from the step that makes them, or the first part of them, to the last that reads them; those
// that are given out, to the end.
void ProgramBuilder::place() {
  const size_t end = program_.steps_.size();
  const auto root = [&](size_t slot) { return program_.slots_[slot].base.value_or(slot); };
  std::vector<Lifetime> lifetimes(program_.slots_.size());
  std::vector<bool> is_made(lifetimes.size());
  for (size_t i = 0; i < end; ++i) {
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
    if (slot != program_.plain_slots_.end()) lifetimes[root(slot->second)].last = end;
  }
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    const Slot& slot = program_.slots_[i];
    const bool is_released =
        slot.place == Slot::Place::datum && !outputs_.contains(slot.value) && lifetimes[i].last < end;
    if (is_released) program_.steps_[lifetimes[i].last].released.push_back(i);
    const bool is_in_arena = slot.place == Slot::Place::arena && !slot.base;
    lifetimes[i].size_bytes = is_in_arena ? slot.desc.size_bytes() : 0;
  }
  program_.arena_bytes_ = plan_memory(lifetimes);
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    if (!program_.slots_[i].base) program_.slots_[i].offset = lifetimes[i].offset;
  }
}

}  // namespace assay::engine
