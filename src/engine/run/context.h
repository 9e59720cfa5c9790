#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/float_rules.h"
#include "engine/program/program.h"
#include "engine/run/arena.h"
#include "engine/run/body_runs.h"
#include "engine/run/device_storage.h"
#include "engine/run/lent_memory.h"
#include "ops/interpreter.h"

namespace assay::engine {

// Memory of the caller for an output, in the order of the model's dims.
struct OutputPlace {
  tensor::DType dtype = tensor::DType::undefined;
  tensor::Shape shape;
  std::span<std::byte> bytes;
  std::shared_ptr<const DeviceStorage> on_device = nullptr;  // set: there, instead of `bytes`
};

// The place in which contexts run: their arenas, and the limits of runs. Contexts that share arenas share an account,
// too.
struct ContextPlace {
  std::shared_ptr<Arenas> arenas;
  size_t depth = 0;
  const ops::InterpreterOptions& limits;
};

// One execution of a program: its arena, its calls, and what reference steps made.
class Context {
 public:
  Context(const Program& program, const ContextPlace& place, bool profiles);
  // By itself.
  Context(const Program& program, const ops::InterpreterOptions& limits, bool profiles)
      : Context(program, {std::make_shared<Arenas>(), 0, limits}, profiles) {}

  // Runs once. `wanted` are outputs of the model and values that the program keeps; what is given to `sink` has memory
  // of its own, or that of `places`.
  void run(std::span<const ops::InputDatum> inputs, std::span<const ir::ValueId> wanted, ops::ValueSink sink,
           const std::map<ir::ValueId, OutputPlace>& places = {});
  // Work of runs from now on is done in the order of a stream of the caller (Queue::follow). A run returns before its
  // work is done if the host has no part in it.
  void follow(std::optional<uint64_t> stream);
  // Returns once the work of the last run is done.
  void wait();
  // Lets go of all that it holds for its next run, which makes it again.
  void rest();
  double seconds() const { return seconds_; }
  // Seconds of a run on the first device: until its first kernel begins, until its last one ends, and after that.
  struct DeviceSeconds {
    double upload = 0;
    double compute = 0;
    double download = 0;
  };
  // Asks runs from now on for them.
  void time_device(bool times) { times_device_ = times && has_devices() && !profiles_; }
  // Lets runs from now on compute a step twice, one after the other, by a kernel of its own; nullopt: none.
  void repeat(std::optional<size_t> step) { repeated_ = step; }
  // Nullopt: nobody asked, or the run was left before it was done.
  const std::optional<DeviceSeconds>& device_seconds() const { return device_seconds_; }
  // By step, of the last run.
  const std::vector<double>& step_seconds() const { return step_seconds_; }

 private:
  void bind_to_arenas();
  void take_inputs(std::span<const ops::InputDatum> inputs);
  void make_outputs(const std::map<ir::ValueId, OutputPlace>& places);
  tensor::StoragePtr output_memory(size_t slot);
  tensor::StoragePtr new_output_memory(const Slot& slot);
  // Has memory that a run is about to take on its account.
  void require(uint64_t bytes);
  void count(const tensor::Datum& made);
  void check_planned(size_t slot) const;
  Address address_of(size_t slot);
  Address address_of_whole(size_t slot, size_t device);
  Address address_of_constant(size_t slot);
  // The storage of a value of which devices can have copies.
  const DeviceStorage& shared(size_t slot);
  void set_arguments(const Step& step, Arguments& arguments);
  void rebind(size_t index);
  void take_lent_memory();
  void run_steps();
  void take_device_seconds();
  void wait_for(size_t device);
  void wait_for_all();
  void run_step(size_t index);
  std::string frame_of(const Step& step) const;
  void run_kernel(size_t index);
  void run_transfer(const Step& step);
  template <typename Add>
  void add_work(const Step& step, Add&& add);
  double timed_step(size_t index);
  void run_reference(const Step& step);
  void run_part(size_t index);
  void keep_outputs(const Step& step, std::span<const tensor::Datum> outputs);
  tensor::Datum operand(const Step& step, size_t slot);
  tensor::Datum read(size_t slot);
  tensor::Datum read_where_it_lies(size_t slot);
  tensor::Datum given_out(size_t slot);
  size_t host() const { return program_.devices().host(); }
  bool has_devices() const { return host() != 0; }

  const Program& program_;
  const bool is_limited_;                // in memory
  ops::InterpreterOptions part_limits_;  // on the account of this run
  const ContextPlace parts_place_;
  BodyRuns bodies_;
  ops::Interpreter interpreter_;
  bool profiles_;
  // State of one device.
  struct Side {
    Arena& arena;
    std::unique_ptr<Queue> queue;
    std::optional<uint64_t> bound_to = std::nullopt;  // the address at which the arena lay
  };
  std::vector<Side> sides_;
  LentMemory lent_;
  bool is_lent_anew_ = false;                                     // other memory than in the last run that succeeded
  bool is_following_ = false;                                     // a stream of the caller
  bool waits_for_each_ = false;                                   // so that an error names its layer
  std::map<size_t, Buffer> constants_;                            // by slot, of devices that are not the host
  std::vector<std::unique_ptr<Call>> calls_;                      // by step; null: reference
  std::vector<Arguments> arguments_;                              // by step: the last ones
  std::vector<bool> is_rebound_;                                  // by step: an address may change from run to run
  std::vector<bool> may_be_lent_;                                 // by step: likewise, if other memory is lent
  std::vector<tensor::Datum> datums_;                             // by slot: inputs, outputs, what reference steps made
  std::vector<std::array<tensor::StoragePtr, 2>> output_memory_;  // by slot: of the last outputs that lie in ours
  std::map<size_t, PartRun> parts_;                               // by step
  FloatRules caller_rules_ = FloatRules::current();               // kept by all but kernels, which flush
  std::vector<double> step_seconds_;
  bool times_device_ = false;
  std::optional<size_t> repeated_;
  std::optional<size_t> first_kernel_;  // steps of the first device
  std::optional<size_t> last_kernel_;
  std::optional<DeviceSeconds> device_seconds_;
  double seconds_ = 0;
};

}  // namespace assay::engine
