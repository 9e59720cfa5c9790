#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/parts/bodies.h"
#include "engine/program.h"
#include "ops/interpreter.h"

namespace assay::engine {

// Memory of the caller for an output, in the order of the model's dims.
struct OutputPlace {
  tensor::DType dtype = tensor::DType::undefined;
  tensor::Shape shape;
  std::span<std::byte> bytes;
};

// Memory for the values of contexts that do not run at the same time.
class Arena {
 public:
  // Error (limit) where a program needs more than `limit`; 0: than the machine can give.
  std::shared_ptr<const Address> take(const Program& program, uint64_t limit);

 private:
  std::shared_ptr<const Address> memory_;
  uint64_t size_bytes_ = 0;
};

// One execution of a program: its arena, its calls, and what reference steps made.
class Context {
 public:
  Context(const Program& program, const ops::InterpreterOptions& limits, bool profiles)
      : Context(program, limits, profiles, Arena().take(program, limits.max_memory_bytes)) {}
  // In an arena that others may have, too.
  Context(const Program& program, const ops::InterpreterOptions& limits, bool profiles,
          std::shared_ptr<const Address> arena);

  // Runs once. `wanted` are outputs of the model and values that the program keeps; what is given to `sink` has memory
  // of its own, or that of `places`.
  void run(std::span<const ops::InputDatum> inputs, std::span<const ir::ValueId> wanted, ops::ValueSink sink,
           const std::map<ir::ValueId, OutputPlace>& places = {});
  double seconds() const { return seconds_; }
  // By step, of the last run.
  const std::vector<double>& step_seconds() const { return step_seconds_; }

 private:
  void take_inputs(std::span<const ops::InputDatum> inputs);
  void make_outputs(const std::map<ir::ValueId, OutputPlace>& places);
  tensor::StoragePtr output_memory(size_t slot);
  Address address_of(size_t slot) const;
  void set_arguments(const Step& step, Arguments& arguments) const;
  void rebind(size_t index);
  void run_step(size_t index);
  void run_kernel(size_t index);
  double timed_step(size_t index);
  void run_reference(const Step& step);
  void run_part(size_t index);
  void keep_outputs(const Step& step, std::span<const tensor::Datum> outputs);
  tensor::Datum read(size_t slot) const;
  tensor::Datum given_out(size_t slot) const;

  const Program& program_;
  ops::InterpreterOptions part_limits_;  // on the account of this run
  BodyRuns bodies_;
  ops::Interpreter interpreter_;
  bool profiles_;
  std::shared_ptr<const Address> arena_;
  std::vector<std::unique_ptr<Call>> calls_;                      // by step; null: reference
  std::vector<Arguments> arguments_;                              // by step: the last ones
  std::vector<bool> is_rebound_;                                  // by step: an address may change from run to run
  std::vector<tensor::Datum> datums_;                             // by slot: inputs, outputs, what reference steps made
  std::vector<std::array<tensor::StoragePtr, 2>> output_memory_;  // by slot: of the last outputs that lie in ours
  std::map<size_t, PartRun> parts_;                               // by step
  std::vector<double> step_seconds_;
  double seconds_ = 0;
};

}  // namespace assay::engine
