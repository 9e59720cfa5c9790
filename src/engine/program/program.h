#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/diagnostics.h"
#include "engine/tactics/tactics.h"
#include "engine/weights/packed_weights.h"
#include "engine/weights/uploaded.h"
#include "ir/model.h"

namespace assay::engine {

class Part;
struct BodyPart;

// The place of a value in one layout.
struct Slot {
  enum class Place : uint8_t {
    arena,     // of each context
    constant,  // of the model
    input,     // memory of the caller
    output,    // likewise; on a device that is not the host: memory of its own, which others may hold
    datum,     // whatever a reference step makes; its shape may depend on data
  };
  Place place = Place::arena;
  ir::ValueId value;
  TensorDesc desc;                           // of inputs and datums: only where it is known
  size_t device = 0;                         // number of the device whose memory it is
  uint64_t offset = 0;                       // in the arena, or in what it is a view of
  const tensor::Tensor* constant = nullptr;  // of constants
  // Set of views: the slot whose memory it is part of, which is no view. If that is an input or a datum, the view may
  // be on another device: the value is copied there when it is looked at.
  std::optional<size_t> base;
};

// One call of a plan.
struct Step {
  ir::NodeId node;                            // invalid: a copy or a transfer; of a part: the last of its nodes
  std::string tactic;                         // kReferenceTactic: by the interpreter, on datums
  std::unique_ptr<const Kernel> kernel;       // null: by the interpreter
  std::vector<std::optional<size_t>> inputs;  // slots; nullopt: left out
  std::vector<std::optional<size_t>> outputs;
  std::vector<bool> is_packed;  // by input: a constant that the kernel has in other forms and does not read
  std::vector<std::pair<ir::ValueId, size_t>> captured;  // of a reference step: values that its bodies use
  std::vector<size_t> released;                          // datums that no later step reads
  std::shared_ptr<const Part> part = nullptr;            // set: runs on datums like a reference step
  std::vector<ir::NodeId> part_nodes = {};
  size_t device = 0;               // number of the device that computes it; of a transfer, the one that is not the host
  bool is_transfer = false;        // copies its operand from one device to another
  std::vector<size_t> waits = {};  // numbers of devices whose work has to be done before it
  bool passes_operands = false;    // hands them to parts on the device where they lie
};

struct ProgramOptions {
  std::vector<ir::ValueId> kept;  // values that runs may ask for besides the outputs
  TacticOptions tactics;
  bool is_strict = false;                                            // nothing but the order of sums may change bits
  bool rounds_halves = false;                                        // Precision::rounds_halves, in parts
  bool permits_tf32 = false;                                         // on devices that compute it
  std::shared_ptr<KeptWeights> packed;                               // shared with other programs of the same constants
  std::shared_ptr<UploadedConstants> uploaded = nullptr;             // likewise
  bool shares_constants = false;                                     // others read what its kernels have packed
  bool is_part = false;                                              // inputs and outputs may lie on any device
  std::function<void(uint64_t done, uint64_t total)> on_layer = {};  // while it is planned
};

// A model lowered and planned for fixed shapes of its inputs. Immutable; shared by all contexts.
class Program {
 public:
  // `model` is lowered, and its inputs have the shapes that runs will have. Both must outlive the program. Error
  // (usage) if a replayed tactic cannot compute its layer.
  Program(const ir::Model& model, const Devices& devices, const ProgramOptions& options);
  ~Program();

  const ir::Model& model() const { return model_; }
  const Devices& devices() const { return devices_; }
  const std::vector<Slot>& slots() const { return slots_; }
  const std::vector<Step>& steps() const { return steps_; }
  // Bytes that a run takes of a device's memory: for values, and behind them for kernels.
  struct Memory {
    uint64_t arena = 0;
    uint64_t workspace = 0;
    uint64_t bytes() const { return arena + workspace; }
  };
  const Memory& memory(size_t device) const { return memory_[device]; }
  // In the memory of all devices.
  uint64_t memory_bytes() const;
  UploadedConstants& uploaded() const { return *uploaded_; }
  bool is_part() const { return is_part_; }
  bool is_strict() const { return is_strict_; }
  // Bodies of reference steps that are planned when their sizes come.
  const std::map<ir::GraphId, std::unique_ptr<const BodyPart>>& bodies() const { return bodies_; }
  // The slot of a value in the order of the model's dims; nullopt: there is no such value.
  std::optional<size_t> slot_of(ir::ValueId value) const;

 private:
  friend class ProgramBuilder;
  const ir::Model& model_;
  const Devices devices_;
  std::unique_ptr<const ops::Inference> inference_;
  std::shared_ptr<KeptWeights> packed_;
  std::shared_ptr<UploadedConstants> uploaded_;
  const bool is_part_;
  const bool is_strict_;
  std::vector<std::unique_ptr<PackedWeights>> uploaded_weights_;  // by device, without the host
  std::vector<Slot> slots_;
  std::vector<Step> steps_;
  std::map<ir::ValueId, size_t> plain_slots_;
  std::map<ir::GraphId, std::unique_ptr<const BodyPart>> bodies_;
  std::vector<Memory> memory_;  // by device
};

}  // namespace assay::engine
