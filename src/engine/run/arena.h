#pragma once

#include <map>
#include <utility>

#include "engine/device/device.h"
#include "ops/live_memory.h"

namespace assay::engine {

// Memory of a device for values. Error (limit) if less is free.
Buffer allocate_on(const Device& device, uint64_t bytes);

// Memory of one device for the values of contexts that do not run at the same time. It moves when it grows.
class Arena {
 public:
  // Makes room for so many bytes. Error (limit) if the device has less, or, with a limit, if less of the host's memory
  // is left on the account.
  void reserve(const Device& device, uint64_t bytes, ops::LiveMemory& account, bool is_limited);
  Address first() const { return memory_.first; }

 private:
  Buffer memory_;
};

// Arenas of each device: one for the contexts of an execution, one for those of parts that run within them, and so on.
class Arenas {
 public:
  Arena& at(size_t depth, const Device& device) { return arenas_[{depth, &device}]; }

 private:
  std::map<std::pair<size_t, const Device*>, Arena> arenas_;
};

}  // namespace assay::engine
