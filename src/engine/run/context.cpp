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

bool lies_on_device(const tensor::Datum& datum, const OutputPlace& place) {
  return place.on_device != nullptr && datum.is_tensor() && datum.tensor().storage() == place.on_device;
}

ops::InterpreterOptions hooked(ops::InterpreterOptions options, ops::BodyHook* hook) {
  options.body_hook = hook;
  return options;
}

}  // namespace

Context::Context(const Program& program, const ContextPlace& place, bool profiles)
    : program_(program),
      is_limited_(place.limits.max_memory_bytes != 0),
      part_limits_(place.limits),
      parts_place_{place.arenas, place.depth + 1, part_limits_},
      bodies_(program.bodies(), parts_place_),
      interpreter_(program.model(), hooked(place.limits, program.bodies().empty() ? nullptr : &bodies_)),
      profiles_(profiles),
      lent_(program),
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
    may_be_lent_.push_back(step.kernel && lent_.concerns(step));
    arguments_.emplace_back();
    if (!step.kernel) continue;
    if (step.device == 0) {
      last_kernel_ = calls_.size() - 1;
      if (!first_kernel_) first_kernel_ = last_kernel_;
    }
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
    for (size_t i = 0; i < calls_.size(); ++i) {
      const Step& step = program_.steps()[i];
      if (!step.kernel || step.device != device || is_rebound_[i]) continue;
      const auto bind = [&] { rebind(i); };  // and upload constants
      device == host() ? bind() : with_frame([&] { return frame_of(step); }, bind);
    }
    side.bound_to = side.arena.first().value;
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
  if (has_devices()) take_lent_memory();
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
  is_lent_anew_ = false;
  for (const ir::ValueId value : wanted) {
    const std::optional<size_t> slot = program_.slot_of(value);
    if (!slot)
      fail(ErrorCode::usage, "the engine does not keep `{}`",
           printable(program_.model().text(program_.model()[value].name)));
    const bool is_there = !program_.slots()[*slot].base && program_.slots()[*slot].place == Slot::Place::output;
    const bool may_be_elsewhere = has_devices() && !program_.is_part();
    const auto give = [&](const tensor::Datum& there) {
      may_be_elsewhere ? sink(value, on_host(there)) : sink(value, there);
    };
    const auto place = places.find(value);
    if (is_there && place != places.end() && lies_on_device(datums_[*slot], place->second))
      sink(value, datums_[*slot]);
    else
      is_there ? give(datums_[*slot]) : give(given_out(*slot));
  }
}

void Context::run_steps() {
  caller_rules_ = FloatRules::current();
  const FloatScope scope(program_.is_strict() ? caller_rules_ : caller_rules_.flushing());
  const auto mark_device = [&] {
    if (times_device_) sides_[0].queue->mark();
  };
  mark_device();
  for (size_t i = 0; i < program_.steps().size(); ++i) {
    check_stopped();
    if (i == first_kernel_) mark_device();
    if (profiles_)
      step_seconds_.push_back(timed_step(i));
    else
      run_step(i);
    if (i == last_kernel_) mark_device();
  }
  mark_device();
  const bool is_left = is_following_ && !times_device_ && lent_.leaves_host_out(datums_);
  for (size_t device = 0; device < sides_.size(); ++device) {
    is_left ? sides_[device].queue->submit() : wait_for(device);
  }
  if (times_device_) take_device_seconds();
}

// Marks of a run that failed come before.
void Context::take_device_seconds() {
  constexpr size_t kIntervals = 3;
  const std::vector<double> seconds = sides_[0].queue->seconds();
  device_seconds_.reset();
  if (!first_kernel_ || seconds.size() < kIntervals) return;
  const auto* const last = seconds.data() + (seconds.size() - kIntervals);
  device_seconds_ = {last[0], last[1], last[2]};
}

void Context::take_lent_memory() {
  if (lent_.take(datums_)) is_lent_anew_ = true;
  if (lent_.is_read_on_host(datums_)) wait_for_all();  // the caller's work that makes it
}

void Context::follow(std::optional<uint64_t> stream) {
  is_following_ = stream.has_value();
  for (const Side& side : sides_) side.queue->follow(stream);
}

void Context::wait_for(size_t device) {
  with_frame([&] { return fmt::format("device {}", program_.devices()[device].name()); },
             [&] { sides_[device].queue->wait(); });
}

void Context::wait() {
  for (size_t device = 0; device < sides_.size(); ++device) wait_for(device);
}

// Work that was added still reads and writes memory of this run; its errors come after the first one.
void Context::wait_for_all() {
  for (const Side& side : sides_) static_cast<void>(attempt([&] { return side.queue->wait(), true; }));
}

Address Context::address_of_constant(size_t index) {
  const Slot& slot = program_.slots()[index];
  if (slot.device == host()) return host_address(slot.constant->bytes().data());
  Buffer& held = constants_[index];
  if (!held.owner) held = program_.uploaded().get(*slot.constant, program_.devices()[slot.device]);
  return held.first;
}

Address Context::address_of(size_t index) {
  const Slot& slot = program_.slots()[index];
  if (slot.base) return address_of_whole(*slot.base, slot.device) + slot.offset;
  return address_of_whole(index, slot.device);
}

void Context::check_planned(size_t index) const {
  const Slot& slot = program_.slots()[index];
  const tensor::Datum& datum = datums_[index];
  const bool fits =
      slot.place == Slot::Place::output ||
      (datum.is_tensor() && datum.tensor().dtype() == slot.desc.dtype && datum.tensor().shape() == slot.desc.dims);
  if (fits) return;
  fail(ErrorCode::shape, "`{}` has another type or shape than the one that was planned for",
       printable(program_.model().text(program_.model()[slot.value].name)));
}

// The address of a slot that is no view, for a step of the device.
Address Context::address_of_whole(size_t index, size_t device) {
  const Slot& slot = program_.slots()[index];
  if (slot.place == Slot::Place::arena) {
    const std::optional<Address> lent = has_devices() ? lent_.find(index) : std::nullopt;
    return lent ? *lent : sides_[slot.device].arena.first() + slot.offset;
  }
  if (slot.place == Slot::Place::constant) return address_of_constant(index);
  check_planned(index);
  const tensor::Datum& datum = datums_[index];
  if (device == host()) return host_address(datum.tensor().bytes().data());
  return shared(index).on(program_.devices()[device]).first;
}

const DeviceStorage& Context::shared(size_t slot) {
  datums_[slot] = shared_with_devices(datums_[slot]);
  return *as_device_storage(datums_[slot].tensor());
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
  for (const size_t device : step.waits) wait_for(device);
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

std::string Context::frame_of(const Step& step) const {
  return step.node.valid() ? ir::describe(program_.model(), step.node) : "a copy";
}

void Context::run_kernel(size_t index) {
  const Step& step = program_.steps()[index];
  with_frame([&] { return frame_of(step); },
             [&] {
               if (is_rebound_[index] || (is_lent_anew_ && may_be_lent_[index])) rebind(index);
               add_work(step, [&](Queue& queue) {
                 calls_[index]->run(queue);
                 if (index == repeated_) calls_[index]->run(queue);
               });
             });
}

void Context::run_transfer(const Step& step) {
  const Slot& to = program_.slots()[*step.outputs[0]];
  const uint64_t bytes = to.desc.size_bytes();
  if (const std::optional<Buffer> other = lent_.other_side(step, datums_)) {
    const bool is_download = to.device == host();
    const size_t on_device = is_download ? *step.inputs[0] : *step.outputs[0];
    const size_t at_caller = is_download ? *step.outputs[0] : *step.inputs[0];
    check_planned(program_.slots()[at_caller].base.value_or(at_caller));
    if (lent_.find(on_device)) return;
    const Address here = address_of(on_device);
    add_work(step, [&](Queue& queue) {
      is_download ? queue.copy(here, other->first, bytes) : queue.copy(other->first, here, bytes);
    });
    return;
  }
  const Address from = address_of(*step.inputs[0]);
  const Address there = address_of(*step.outputs[0]);
  add_work(step, [&](Queue& queue) {
    if (to.device == host())
      queue.download(from, {host_bytes(there), bytes});
    else
      queue.upload({host_bytes(from), bytes}, there);
  });
}

// Adds the work of a step to the queue of its device, and marks it where times are asked for.
template <typename Add>
void Context::add_work(const Step& step, Add&& add) {
  Queue& queue = *sides_[step.device].queue;
  const bool is_marked = profiles_ && step.device != host();
  if (is_marked) queue.mark();
  add(queue);
  if (is_marked) queue.mark();
  if (profiles_ || waits_for_each_) wait_for(step.device);
}

// Other devices have a clock of their own. With one thread, the calling one does all the work of the host.
double Context::timed_step(size_t index) {
  if (const size_t device = program_.steps()[index].device; device != host()) {
    run_step(index);
    const std::vector<double> seconds = sides_[device].queue->seconds();
    return seconds.empty() ? 0 : seconds.back();  // nothing is moved that lies there already
  }
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
  const FloatScope scope(caller_rules_);
  std::vector<tensor::Datum> inputs;
  for (const std::optional<size_t>& slot : step.inputs) inputs.push_back(slot ? operand(step, *slot) : tensor::Datum());
  std::vector<ops::InputDatum> captured;
  for (const auto& [value, slot] : step.captured) captured.push_back({value, operand(step, slot)});
  keep_outputs(step, interpreter_.evaluate(step.node, inputs, captured));
}

void Context::run_part(size_t index) {
  const FloatScope scope(caller_rules_);
  const Step& step = program_.steps()[index];
  std::vector<tensor::Datum> inputs;
  for (const std::optional<size_t>& slot : step.inputs) inputs.push_back(operand(step, *slot));
  PartRun& part = parts_.try_emplace(index, *step.part, parts_place_).first->second;
  if (const auto outputs = part.run(inputs))
    keep_outputs(step, *outputs);
  else
    keep_outputs(step, part.run_reference(inputs));
}

}  // namespace assay::engine
