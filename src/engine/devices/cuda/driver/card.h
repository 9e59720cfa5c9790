#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/devices/cuda/driver/driver.h"

namespace assay::engine::cuda {

// One card and its primary context, always held by shared pointers. May be used from several threads.
class Card : public std::enable_shared_from_this<Card> {
 public:
  // Error (backend): there is no card of that number, or it is older than sm_80.
  Card(const Driver& driver, int number);
  ~Card();
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  const Driver& driver() const { return driver_; }
  const Api& api() const { return driver_.api(); }
  int number() const { return number_; }
  const std::string& name() const { return name_; }
  int capability() const { return capability_; }  // 90: sm_90
  int multiprocessors() const { return multiprocessors_; }
  uint64_t l2_bytes() const { return static_cast<uint64_t>(attribute(Attribute::l2_bytes)); }
  int shared_bytes() const { return attribute(Attribute::shared_bytes_of_block); }

  DriverContext context() const { return context_; }
  // Makes the context that of this thread, which every call of the driver needs.
  void enter() const { driver_.check(api().context_set(context_), "its context"); }
  // Error (limit) that names what is free.
  Buffer allocate(uint64_t size_bytes) const;
  // Frees what allocate() has given. While kernels of cards wait for each other, for all of which the driver could
  // wait, it is kept for allocate() instead.
  void release(DevicePointer first, uint64_t size_bytes) const;
  // Memory of the host that the card reaches without the processor's help, from those that were given back before.
  // Null: the host has none left.
  struct HostBlock {
    std::byte* first = nullptr;
    size_t bytes = 0;
  };
  HostBlock take_host_block() const;
  void give_back(const HostBlock& block) const;
  uint64_t free_bytes() const;
  uint64_t memory_bytes() const;
  // True if its kernels can read the memory of another.
  bool can_reach(const Card& other) const;
  // Lets kernels and copies of this card read the memory of another. Error (unsupported): it cannot.
  void reach(const Card& other) const;
  // A number that kernels set when they meet an index that is out of range; take_fault() also clears it.
  DevicePointer fault() const { return reinterpret_cast<DevicePointer>(fault_); }
  bool take_fault() const;

 private:
  int attribute(Attribute wanted) const;
  void free_kept() const;
  bool gave_kept() const;
  DevicePointer take_kept(uint64_t size_bytes) const;
  std::pair<uint64_t, uint64_t> sizes_of_memory() const;  // that is free, and all

  const Driver& driver_;
  int number_;
  DeviceNumber device_ = 0;
  DriverContext context_ = nullptr;
  std::string name_;
  int capability_ = 0;
  int multiprocessors_ = 0;
  volatile int* fault_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::vector<HostBlock> free_blocks_;
  mutable std::multimap<uint64_t, DevicePointer> kept_;  // by size
  mutable std::set<DriverContext> reached_;
};

}  // namespace assay::engine::cuda
