#pragma once

#include "engine/device/device.h"
#include "engine/devices/cuda/launch.h"

namespace assay::engine::cuda {

// Launches with their addresses.
class LaunchedCall final : public Call {
 public:
  LaunchedCall(std::shared_ptr<const Launches> launches, const Arguments& arguments);
  void run(Queue& queue) override;
  void rebind(const Arguments& arguments) override;

  // One for each binding of each call of the process, the same one for addresses that came lately.
  uint64_t number() const { return number_; }
  const std::shared_ptr<const Launches>& launches() const { return launches_; }
  const std::vector<std::byte>& parameters(size_t launch) const { return parameters_[launch]; }
  // Operands of maps that do not lie evenly are copied first.
  struct Copy {
    uint64_t from = 0;
    Buffer to;
  };
  const std::vector<Copy>& copies() const { return copies_; }

 private:
  std::shared_ptr<const Launches> launches_;
  uint64_t even_address(const TensorMap& map, uint64_t address);

  std::vector<std::vector<std::byte>> parameters_;  // by launch
  std::vector<Copy> copies_;
  Buffer counters_;
  struct Binding {
    std::vector<uint64_t> addresses;
    uint64_t number;
  };
  std::vector<Binding> bindings_;
  uint64_t number_ = 0;
};

struct ExchangePlace;

// A queue that takes launches.
class LaunchQueue : public Queue {
 public:
  virtual void add(const LaunchedCall& call) = 0;
  // Exchanges of which its launches have a part; wait() throws what these have met.
  virtual std::vector<ExchangePlace>& exchanges() = 0;
  // The rest is for work that depends on other queues, and is not part of graphs.
  virtual const Card& card() const = 0;
  // Records that all work added so far is done.
  virtual void record(Event event) = 0;
  // Work that is added from now on begins when what was recorded, of any card, is done.
  virtual void wait_for(Event event) = 0;
  virtual void add(const Launch& launch, const std::vector<std::byte>& parameters) = 0;
  // The stream that does the work, for a library that adds more; all work before is added.
  virtual Stream stream() = 0;
  // From a place of any card that this one reaches.
  virtual void copy_from_any(Address from, Address to, uint64_t bytes) = 0;
};

}  // namespace assay::engine::cuda
