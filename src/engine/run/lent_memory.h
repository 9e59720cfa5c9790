#pragma once

#include <map>
#include <optional>
#include <vector>

#include "engine/program/program.h"
#include "tensor/datum.h"

namespace assay::engine {

// Memory of the caller on devices, in the place of memory in arenas: of inputs that lie there, and of outputs that are
// wanted there. What cannot take that place, such as memory that is not aligned, is copied by its transfer.
class LentMemory {
 public:
  explicit LentMemory(const Program& program);

  // Looks at what a run is given and is to give, by slot. True: an address is another one than in the last run.
  bool take(const std::vector<tensor::Datum>& datums);
  // The memory that takes the place of a slot's in the arena.
  std::optional<Address> find(size_t slot) const;
  // True if the step reads or writes memory that may be lent.
  bool concerns(const Step& step) const;
  // The memory of the caller that a transfer copies from or to; nullopt: it is the host's.
  std::optional<Buffer> other_side(const Step& transfer, const std::vector<tensor::Datum>& datums) const;
  // True if a step of the host reads an input that lies on a device.
  bool is_read_on_host(const std::vector<tensor::Datum>& datums) const;
  // True if the host neither computes anything in a run nor copies from or to its own memory.
  bool leaves_host_out(const std::vector<tensor::Datum>& datums) const;

 private:
  // Slots of a transfer between the caller, or what is a view of the caller's, and a device.
  struct Crossing {
    size_t at_caller;
    size_t on_device;
  };
  std::optional<Buffer> memory_at(size_t slot, size_t device, const std::vector<tensor::Datum>& datums) const;
  void lend(const Crossing& crossing, const Buffer& memory);
  size_t root(size_t slot) const { return program_.slots()[slot].base.value_or(slot); }

  const Program& program_;
  std::vector<Crossing> inputs_;
  std::vector<Crossing> outputs_;
  std::vector<size_t> read_on_host_;          // inputs
  std::vector<std::optional<Buffer>> given_;  // of the last run, by input and output
  std::map<size_t, Buffer> lent_;             // by slot on a device
};

}  // namespace assay::engine
