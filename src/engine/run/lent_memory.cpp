#include "engine/run/lent_memory.h"

#include <algorithm>
#include <ranges>

#include "engine/run/device_storage.h"

namespace assay::engine {
namespace {

constexpr uint64_t kLeastAlignment = 16;

bool overlap(const Buffer& a, const Buffer& b) {
  return a.first.value < b.first.value + b.bytes && b.first.value < a.first.value + a.bytes;
}

bool are_same(const std::optional<Buffer>& a, const std::optional<Buffer>& b) {
  return a.has_value() == b.has_value() && (!a || (a->first.value == b->first.value && a->bytes == b->bytes));
}

}  // namespace

LentMemory::LentMemory(const Program& program) : program_(program) {
  const std::vector<Slot>& slots = program.slots();
  const auto is_in_arena = [&](size_t slot) { return slots[slot].place == Slot::Place::arena && !slots[slot].base; };
  const size_t host = program.devices().host();
  for (const Step& step : program.steps()) {
    if (step.is_transfer) {
      const size_t from = *step.inputs[0], to = *step.outputs[0];
      if (slots[root(from)].place == Slot::Place::input && is_in_arena(to)) inputs_.push_back({from, to});
      if (slots[to].place == Slot::Place::output && is_in_arena(from)) outputs_.push_back({to, from});
    } else if (step.device == host) {
      for (const std::optional<size_t>& slot : step.inputs) {
        if (slot && slots[root(*slot)].place == Slot::Place::input) read_on_host_.push_back(root(*slot));
      }
      for (const auto& [value, slot] : step.captured) {
        if (slots[root(slot)].place == Slot::Place::input) read_on_host_.push_back(root(slot));
      }
    }
  }
  std::erase_if(outputs_, [&](const Crossing& output) {
    return std::ranges::find(inputs_, output.on_device, &Crossing::on_device) != inputs_.end();
  });
}

bool LentMemory::take(const std::vector<tensor::Datum>& datums) {
  std::vector<std::optional<Buffer>> given;
  given.reserve(inputs_.size() + outputs_.size());
  for (const auto* const crossings : {&inputs_, &outputs_}) {
    for (const Crossing& crossing : *crossings) {
      given.push_back(memory_at(crossing.at_caller, program_.slots()[crossing.on_device].device, datums));
    }
  }
  const bool is_same = std::ranges::equal(given, given_, are_same);
  given_ = std::move(given);
  if (is_same) return false;
  const std::map<size_t, Buffer> last = std::exchange(lent_, {});
  for (size_t i = 0; i < given_.size(); ++i) {
    if (given_[i]) lend(i < inputs_.size() ? inputs_[i] : outputs_[i - inputs_.size()], *given_[i]);
  }
  return !std::ranges::equal(lent_, last, [](const auto& a, const auto& b) {
    return a.first == b.first && a.second.first.value == b.second.first.value;
  });
}

// An output that overlaps an input, or another output, is copied when all work is done.
void LentMemory::lend(const Crossing& crossing, const Buffer& memory) {
  if (memory.first.value % kLeastAlignment != 0) return;
  const bool is_output = program_.slots()[crossing.at_caller].place == Slot::Place::output;
  const auto overlaps = [&](const auto& other) { return overlap(other.second, memory); };
  if (is_output && std::ranges::any_of(lent_, overlaps)) return;
  lent_.emplace(crossing.on_device, memory);
}

std::optional<Buffer> LentMemory::memory_at(size_t slot, size_t device,
                                            const std::vector<tensor::Datum>& datums) const {
  const tensor::Datum& datum = datums[root(slot)];
  const DeviceStorage* const storage = datum.is_tensor() ? as_device_storage(datum.tensor()) : nullptr;
  const auto place = storage != nullptr ? storage->find_place() : std::nullopt;
  if (!place || &place->device != &program_.devices()[device]) return std::nullopt;
  const uint64_t offset = root(slot) == slot ? 0 : program_.slots()[slot].offset;
  return Buffer{place->memory.first + offset, place->memory.bytes - offset, place->memory.owner};
}

std::optional<Address> LentMemory::find(size_t slot) const {
  const auto found = lent_.find(slot);
  return found == lent_.end() ? std::nullopt : std::optional(found->second.first);
}

bool LentMemory::concerns(const Step& step) const {
  const auto may_be_lent = [&](const std::optional<size_t>& slot) {
    const auto is_there = [&](const Crossing& crossing) { return slot && crossing.on_device == root(*slot); };
    return std::ranges::any_of(inputs_, is_there) || std::ranges::any_of(outputs_, is_there);
  };
  return std::ranges::any_of(step.inputs, may_be_lent) || std::ranges::any_of(step.outputs, may_be_lent);
}

std::optional<Buffer> LentMemory::other_side(const Step& transfer, const std::vector<tensor::Datum>& datums) const {
  const size_t from = *transfer.inputs[0], to = *transfer.outputs[0];
  const size_t caller = program_.slots()[from].device == program_.devices().host() ? from : to;
  return memory_at(caller, transfer.device, datums);
}

bool LentMemory::is_read_on_host(const std::vector<tensor::Datum>& datums) const {
  return std::ranges::any_of(read_on_host_, [&](size_t slot) {
    return datums[slot].is_tensor() && as_device_storage(datums[slot].tensor()) != nullptr;
  });
}

bool LentMemory::leaves_host_out(const std::vector<tensor::Datum>& datums) const {
  return std::ranges::all_of(program_.steps(), [&](const Step& step) {
    return step.is_transfer ? other_side(step, datums).has_value() : step.device != program_.devices().host();
  });
}

}  // namespace assay::engine
