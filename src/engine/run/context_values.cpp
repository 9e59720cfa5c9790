// Values that a context is given, makes and gives out.
#include <algorithm>
#include <atomic>

#include "engine/run/context.h"
#include "tensor/borrowed.h"

namespace assay::engine {
namespace {

// True if the datum lies at the place, where an earlier run left it.
bool lies_at(const tensor::Datum& datum, std::span<const std::byte> place) {
  if (!datum.is_tensor() || place.empty() || as_device_storage(datum.tensor()) != nullptr) return false;
  const tensor::Bytes bytes = datum.tensor().bytes();
  return bytes.data() == place.data() && bytes.size() == place.size();
}

tensor::StoragePtr memory_of(const OutputPlace& place) {
  return place.on_device != nullptr ? place.on_device : tensor::make_borrowed(place.bytes);
}

}  // namespace

void Context::take_inputs(std::span<const ops::InputDatum> inputs) {
  const ir::Model& model = program_.model();
  for (size_t i = 0; i < program_.slots().size(); ++i) {
    const Slot& slot = program_.slots()[i];
    if (slot.place != Slot::Place::input || slot.base) continue;
    const auto given = std::ranges::find(inputs, slot.value, &ops::InputDatum::value);
    const ir::TensorId fallback = model[slot.value].constant;
    if (given != inputs.end()) {
      datums_[i] = given->datum;
      const bool is_callers = has_devices() && !program_.is_part() && datums_[i].is_tensor();
      const DeviceStorage* const lent = is_callers ? as_device_storage(datums_[i].tensor()) : nullptr;
      if (lent != nullptr) lent->renew();  // other elements lie there
    } else if (fallback.valid() && !model[fallback].sparse)
      datums_[i] = model[fallback].tensor;
    else
      datums_[i] = tensor::Datum();
  }
}

void Context::make_outputs(const std::map<ir::ValueId, OutputPlace>& places) {
  for (size_t i = 0; i < program_.slots().size(); ++i) {
    const Slot& slot = program_.slots()[i];
    if (slot.place != Slot::Place::output || slot.base) continue;
    const auto place = slot.device == host() ? places.find(slot.value) : places.end();
    const bool fits =
        place != places.end() && place->second.dtype == slot.desc.dtype && place->second.shape == slot.desc.dims;
    if (fits && lies_at(datums_[i], place->second.bytes)) continue;
    datums_[i] = tensor::Datum();
    tensor::StoragePtr memory = fits ? memory_of(place->second) : output_memory(i);
    datums_[i] = tensor::Tensor(slot.desc.dtype, slot.desc.dims, std::move(memory));
    if (!fits && slot.device == host()) count(datums_[i]);
  }
}

// That of an earlier run, if nobody holds it any more. There are two: a body's outputs are often its next inputs.
tensor::StoragePtr Context::output_memory(size_t slot) {
  auto& [last, other] = output_memory_[slot];
  for (const tensor::StoragePtr* const memory : {&last, &other}) {
    if (*memory == nullptr || memory->use_count() > 1) continue;
    std::atomic_thread_fence(std::memory_order_acquire);  // whoever let go of it has read it before
    if (program_.slots()[slot].device != host()) static_cast<const DeviceStorage&>(**memory).renew();
    return *memory;
  }
  other = std::move(last);
  last = new_output_memory(program_.slots()[slot]);
  return last;
}

tensor::StoragePtr Context::new_output_memory(const Slot& slot) {
  const uint64_t bytes = slot.desc.size_bytes();
  if (slot.device != host()) {
    const Device& device = program_.devices()[slot.device];
    return std::make_shared<DeviceStorage>(DeviceStorage::Place{device, allocate_on(device, bytes)});
  }
  require(bytes);
  return tensor::make_owned(std::vector<std::byte>(bytes));
}

void Context::keep_outputs(const Step& step, std::span<const tensor::Datum> outputs) {
  for (size_t i = 0; i < step.outputs.size() && i < outputs.size(); ++i) {
    if (!step.outputs[i]) continue;
    datums_[*step.outputs[i]] = with_own_memory(outputs[i]);
    count(datums_[*step.outputs[i]]);
  }
}

tensor::Datum Context::operand(const Step& step, size_t slot) {
  if (!step.passes_operands) return read(slot);
  const Slot& from = program_.slots()[slot];
  const bool is_datum = from.place == Slot::Place::input || from.place == Slot::Place::datum;
  if (!from.base && is_datum) datums_[slot] = shared_with_devices(datums_[slot]);
  return shared_with_devices(read_where_it_lies(slot));
}

// A value on the host; borrowed from the arena, where it lies there.
tensor::Datum Context::read(size_t index) {
  const Slot& slot = program_.slots()[index];
  if (!slot.base && slot.place == Slot::Place::constant) return *slot.constant;
  if (!slot.base && slot.place != Slot::Place::arena) return datums_[index];
  const std::byte* const bytes = host_bytes(address_of(index));
  return tensor::Tensor(slot.desc.dtype, slot.desc.dims, tensor::make_borrowed({bytes, slot.desc.size_bytes()}));
}

// A value on the device that has it. A part of a value there holds all of it.
tensor::Datum Context::read_where_it_lies(size_t index) {
  const Slot& slot = program_.slots()[index];
  const tensor::Datum& whole = datums_[slot.base.value_or(index)];
  const DeviceStorage* const storage = whole.is_tensor() ? as_device_storage(whole.tensor()) : nullptr;
  const auto place = storage != nullptr ? storage->find_place() : std::nullopt;
  if (!place) return read(index);
  if (!slot.base) return whole;
  Buffer part{place->memory.first + slot.offset, slot.desc.size_bytes(), whole.tensor().storage()};
  return tensor::Tensor(slot.desc.dtype, slot.desc.dims,
                        std::make_shared<DeviceStorage>(DeviceStorage::Place{place->device, std::move(part)}));
}

// With memory of its own.
tensor::Datum Context::given_out(size_t index) {
  const Slot& slot = program_.slots()[index];
  const tensor::Datum there = has_devices() ? read_where_it_lies(index) : read(index);
  const bool is_own = (!slot.base && slot.place != Slot::Place::arena) || as_device_storage(there.tensor()) != nullptr;
  if (is_own) return there;
  const tensor::Bytes bytes = there.tensor().bytes();
  require(bytes.size());
  const tensor::Datum given =
      tensor::Tensor(slot.desc.dtype, slot.desc.dims, tensor::make_owned({bytes.begin(), bytes.end()}));
  count(given);
  return given;
}

}  // namespace assay::engine
