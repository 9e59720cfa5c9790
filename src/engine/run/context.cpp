#include "engine/run/context.h"

#include <algorithm>
#include <atomic>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/thread_stopwatch.h"
#include "ir/verify.h"
#include "tensor/borrowed.h"

namespace assay::engine {
namespace {

bool may_move(Slot::Place place) { return place != Slot::Place::arena && place != Slot::Place::constant; }

std::span<std::byte> writable(const tensor::Datum& datum) {
  const tensor::Bytes bytes = datum.tensor().bytes();
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

// True if the datum lies at the place, where an earlier run left it.
bool lies_at(const tensor::Datum& datum, std::span<const std::byte> place) {
  if (!datum.is_tensor() || place.empty()) return false;
  const tensor::Bytes bytes = datum.tensor().bytes();
  return bytes.data() == place.data() && bytes.size() == place.size();
}

tensor::Tensor with_own_memory(const tensor::Tensor& tensor) {
  if (!tensor.storage() || !tensor::is_borrowed(*tensor.storage())) return tensor;
  const tensor::Bytes bytes = tensor.bytes();
  return tensor::Tensor(tensor.dtype(), tensor.shape(), tensor::make_owned({bytes.begin(), bytes.end()}));
}

// A result of the reference in memory of its own: it may be an operand in the arena, which is written anew soon.
tensor::Datum with_own_memory(const tensor::Datum& made) {
  if (made.is_tensor()) return with_own_memory(made.tensor());
  if (made.is_map()) return tensor::Datum::map(with_own_memory(made.keys()), with_own_memory(made.values()));
  if (!made.is_sequence()) return made;
  std::vector<tensor::Datum> items;
  for (const tensor::Datum& item : made.items()) items.push_back(with_own_memory(item));
  return tensor::Datum::sequence(std::move(items));
}

ops::InterpreterOptions hooked(ops::InterpreterOptions options, ops::BodyHook* hook) {
  options.body_hook = hook;
  return options;
}

}  // namespace

// With a limit, memory that larger programs needed is not kept for small ones.
void Arena::reserve(const Device& device, uint64_t bytes, ops::LiveMemory& account, bool is_limited) {
  const bool is_counted = is_limited && device.is_host();
  if (memory_.owner && bytes <= memory_.bytes && (!is_counted || bytes >= memory_.bytes / 2)) return;
  if (is_counted) account.give_back(memory_.bytes);
  memory_ = {};
  const uint64_t most = is_counted ? account.left(bytes) : device.free_bytes();
  if (bytes > most) {
    throw Error(ErrorCode::limit,
                fmt::format("the engine needs {} of memory for values{}, {} are {}", human_bytes(bytes),
                            device.is_host() ? "" : fmt::format(" on {}", device.name()), human_bytes(most),
                            is_counted ? "left" : "available"))
        .remedied_by("max_memory");
  }
  memory_ = device.allocate(bytes);
  if (is_counted) account.hold(bytes);
}

Context::Context(const Program& program, const ContextPlace& place, bool profiles)
    : program_(program),
      is_limited_(place.limits.max_memory_bytes != 0),
      part_limits_(place.limits),
      parts_place_{place.arenas, place.depth + 1, part_limits_},
      bodies_(program.bodies(), parts_place_),
      interpreter_(program.model(), hooked(place.limits, program.bodies().empty() ? nullptr : &bodies_)),
      profiles_(profiles),
      datums_(program.slots().size()),
      output_memory_(program.slots().size()) {
  part_limits_.account = &interpreter_.account();
  for (size_t i = 0; i < program.devices().count(); ++i) {
    const Device& device = program.devices()[i];
    sides_.push_back({place.arenas->at(place.depth, device), device.make_queue()});
  }
  for (const Step& step : program.steps()) {
    calls_.push_back(nullptr);
    is_rebound_.push_back(false);
    arguments_.emplace_back();
    if (!step.kernel) continue;
    const auto moves = [&](const std::optional<size_t>& slot) {
      return slot && may_move(program.slots()[program.slots()[*slot].base.value_or(*slot)].place);
    };
    is_rebound_.back() = std::ranges::any_of(step.inputs, moves) || std::ranges::any_of(step.outputs, moves);
  }
  bind_to_arenas();
}

// Binds calls whose addresses do not move from run to run.
void Context::bind_to_arenas() {
  for (size_t device = 0; device < sides_.size(); ++device) {
    Side& side = sides_[device];
    side.arena.reserve(program_.devices()[device], program_.memory(device).bytes(), interpreter_.account().memory,
                       is_limited_);
    if (side.bound_to == side.arena.first().value) continue;
    side.bound_to = side.arena.first().value;
    for (size_t i = 0; i < calls_.size(); ++i) {
      const Step& step = program_.steps()[i];
      if (step.kernel && step.device == device && !is_rebound_[i]) rebind(i);
    }
  }
}

void Context::rest() {
  std::ranges::fill(datums_, tensor::Datum());
  std::ranges::fill(output_memory_, std::array<tensor::StoragePtr, 2>());
  parts_.clear();
  bodies_.rest();
}

void Context::require(uint64_t bytes) {
  if (is_limited_) interpreter_.account().memory.require(bytes);
}

void Context::count(const tensor::Datum& made) {
  if (is_limited_) interpreter_.account().memory.add(made, {});
}

void Context::run(std::span<const ops::InputDatum> inputs, std::span<const ir::ValueId> wanted, ops::ValueSink sink,
                  const std::map<ir::ValueId, OutputPlace>& places) {
  interpreter_.start();
  bind_to_arenas();
  take_inputs(inputs);
  make_outputs(places);
  step_seconds_.clear();
  const Stopwatch watch;
  try {
    run_steps();
  } catch (...) {
    waits_for_each_ = true;
    wait_for_all();
    throw;
  }
  seconds_ = watch.seconds();
  for (const ir::ValueId value : wanted) {
    const std::optional<size_t> slot = program_.slot_of(value);
    if (!slot)
      fail(ErrorCode::usage, "the engine does not keep `{}`",
           printable(program_.model().text(program_.model()[value].name)));
    const bool is_there = !program_.slots()[*slot].base && program_.slots()[*slot].place == Slot::Place::output;
    if (is_there)
      sink(value, datums_[*slot]);
    else
      sink(value, given_out(*slot));
  }
}

void Context::run_steps() {
  for (size_t i = 0; i < program_.steps().size(); ++i) {
    check_stopped();
    if (profiles_)
      step_seconds_.push_back(timed_step(i));
    else
      run_step(i);
  }
  for (const Side& side : sides_) side.queue->wait();
}

// Work that was added still reads and writes memory of this run; its errors come after the first one.
void Context::wait_for_all() {
  for (const Side& side : sides_) static_cast<void>(attempt([&] { return side.queue->wait(), true; }));
}

void Context::take_inputs(std::span<const ops::InputDatum> inputs) {
  const ir::Model& model = program_.model();
  for (size_t i = 0; i < program_.slots().size(); ++i) {
    const Slot& slot = program_.slots()[i];
    if (slot.place != Slot::Place::input) continue;
    const auto given = std::ranges::find(inputs, slot.value, &ops::InputDatum::value);
    const ir::TensorId fallback = model[slot.value].constant;
    if (given != inputs.end())
      datums_[i] = given->datum;
    else if (fallback.valid() && !model[fallback].sparse)
      datums_[i] = model[fallback].tensor;
    else
      datums_[i] = tensor::Datum();
  }
}

void Context::make_outputs(const std::map<ir::ValueId, OutputPlace>& places) {
  for (size_t i = 0; i < program_.slots().size(); ++i) {
    const Slot& slot = program_.slots()[i];
    if (slot.place != Slot::Place::output || slot.base) continue;
    const auto place = places.find(slot.value);
    const bool fits =
        place != places.end() && place->second.dtype == slot.desc.dtype && place->second.shape == slot.desc.dims;
    if (fits && lies_at(datums_[i], place->second.bytes)) continue;
    datums_[i] = tensor::Datum();
    tensor::StoragePtr memory = fits ? tensor::make_borrowed(place->second.bytes) : output_memory(i);
    datums_[i] = tensor::Tensor(slot.desc.dtype, slot.desc.dims, std::move(memory));
    if (!fits) count(datums_[i]);
  }
}

// That of an earlier run, if nobody holds it any more. There are two: a body's outputs are often its next inputs.
tensor::StoragePtr Context::output_memory(size_t slot) {
  auto& [last, other] = output_memory_[slot];
  for (const tensor::StoragePtr* const memory : {&last, &other}) {
    if (*memory == nullptr || memory->use_count() > 1) continue;
    std::atomic_thread_fence(std::memory_order_acquire);  // whoever let go of it has read it before
    return *memory;
  }
  other = std::move(last);
  require(program_.slots()[slot].desc.size_bytes());
  last = tensor::make_owned(std::vector<std::byte>(program_.slots()[slot].desc.size_bytes()));
  return last;
}

Address Context::address_of_constant(size_t index) {
  const Slot& slot = program_.slots()[index];
  if (slot.device == program_.devices().host()) return host_address(slot.constant->bytes().data());
  Buffer& held = constants_[index];
  if (!held.owner) held = program_.uploaded().get(*slot.constant, program_.devices()[slot.device]);
  return held.first;
}

Address Context::address_of(size_t index) {
  const Slot& slot = program_.slots()[index];
  if (slot.base) return address_of(*slot.base) + slot.offset;
  if (slot.place == Slot::Place::arena) return sides_[slot.device].arena.first() + slot.offset;
  if (slot.place == Slot::Place::constant) return address_of_constant(index);
  if (slot.place == Slot::Place::output) return host_address(writable(datums_[index]).data());
  const tensor::Datum& datum = datums_[index];
  const bool fits =
      datum.is_tensor() && datum.tensor().dtype() == slot.desc.dtype && datum.tensor().shape() == slot.desc.dims;
  if (!fits) {
    fail(ErrorCode::shape, "`{}` has another type or shape than the one that was planned for",
         printable(program_.model().text(program_.model()[slot.value].name)));
  }
  return host_address(datum.tensor().bytes().data());
}

void Context::set_arguments(const Step& step, Arguments& arguments) {
  arguments.inputs.resize(step.inputs.size());
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const bool is_read = step.inputs[i] && (i >= step.is_packed.size() || !step.is_packed[i]);
    arguments.inputs[i] = is_read ? address_of(*step.inputs[i]) : Address();
  }
  arguments.outputs.resize(step.outputs.size());
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    arguments.outputs[i] = step.outputs[i] ? address_of(*step.outputs[i]) : Address();
  }
  arguments.workspace = sides_[step.device].arena.first() + program_.memory(step.device).arena;
}

void Context::rebind(size_t index) {
  const Step& step = program_.steps()[index];
  set_arguments(step, arguments_[index]);
  if (calls_[index] == nullptr)
    calls_[index] = step.kernel->bind(arguments_[index]);
  else
    calls_[index]->rebind(arguments_[index]);
}

void Context::run_step(size_t index) {
  const Step& step = program_.steps()[index];
  for (const size_t device : step.waits) sides_[device].queue->wait();
  if (step.is_transfer) {
    run_transfer(step);
  } else if (step.part) {
    run_part(index);
  } else if (!step.kernel) {
    run_reference(step);
  } else {
    run_kernel(index);
  }
  for (const size_t slot : step.released) datums_[slot] = tensor::Datum();
}

void Context::run_kernel(size_t index) {
  const Step& step = program_.steps()[index];
  Queue& queue = *sides_[step.device].queue;
  with_frame([&] { return step.node.valid() ? ir::describe(program_.model(), step.node) : "a copy"; },
             [&] {
               if (is_rebound_[index]) rebind(index);
               calls_[index]->run(queue);
               if (profiles_ || waits_for_each_) queue.wait();
             });
}

void Context::run_transfer(const Step& step) {
  const Slot& to = program_.slots()[*step.outputs[0]];
  const uint64_t bytes = to.desc.size_bytes();
  const Address from = address_of(*step.inputs[0]);
  const Address there = address_of(*step.outputs[0]);
  Queue& queue = *sides_[step.device].queue;
  if (to.device == program_.devices().host())
    queue.download(from, {host_bytes(there), bytes});
  else
    queue.upload({host_bytes(from), bytes}, there);
  if (profiles_ || waits_for_each_) queue.wait();
}

// With one thread, the calling one does all the work.
double Context::timed_step(size_t index) {
  if (thread_count() != 1) {
    const Stopwatch watch;
    run_step(index);
    return watch.seconds();
  }
  const ThreadStopwatch watch;
  run_step(index);
  return watch.seconds();
}

void Context::run_reference(const Step& step) {
  std::vector<tensor::Datum> inputs;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    inputs.push_back(step.inputs[i] ? read(*step.inputs[i]) : tensor::Datum());
  }
  std::vector<ops::InputDatum> captured;
  for (const auto& [value, slot] : step.captured) captured.push_back({value, read(slot)});
  keep_outputs(step, interpreter_.evaluate(step.node, inputs, captured));
}

void Context::run_part(size_t index) {
  const Step& step = program_.steps()[index];
  std::vector<tensor::Datum> inputs;
  for (const std::optional<size_t>& slot : step.inputs) inputs.push_back(read(*slot));
  PartRun& part = parts_.try_emplace(index, *step.part, parts_place_).first->second;
  if (const auto outputs = part.run(inputs))
    keep_outputs(step, *outputs);
  else
    keep_outputs(step, part.run_reference(inputs));
}

void Context::keep_outputs(const Step& step, std::span<const tensor::Datum> outputs) {
  for (size_t i = 0; i < step.outputs.size() && i < outputs.size(); ++i) {
    if (!step.outputs[i]) continue;
    datums_[*step.outputs[i]] = with_own_memory(outputs[i]);
    count(datums_[*step.outputs[i]]);
  }
}

// A value on the host; borrowed from the arena, where it lies there.
tensor::Datum Context::read(size_t index) {
  const Slot& slot = program_.slots()[index];
  if (!slot.base && slot.place == Slot::Place::constant) return *slot.constant;
  if (!slot.base && slot.place != Slot::Place::arena) return datums_[index];
  const std::byte* const bytes = host_bytes(address_of(index));
  return tensor::Tensor(slot.desc.dtype, slot.desc.dims, tensor::make_borrowed({bytes, slot.desc.size_bytes()}));
}

// With memory of its own.
tensor::Datum Context::given_out(size_t index) {
  const Slot& slot = program_.slots()[index];
  if (!slot.base && slot.place != Slot::Place::arena) return read(index);
  const tensor::Datum borrowed = read(index);
  const tensor::Bytes bytes = borrowed.tensor().bytes();
  require(bytes.size());
  const tensor::Datum given =
      tensor::Tensor(slot.desc.dtype, slot.desc.dims, tensor::make_owned({bytes.begin(), bytes.end()}));
  count(given);
  return given;
}

}  // namespace assay::engine
