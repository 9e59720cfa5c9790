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

 private:
  std::shared_ptr<const Launches> launches_;
  std::vector<std::vector<std::byte>> parameters_;  // by launch
  Buffer counters_;
  struct Binding {
    std::vector<uint64_t> addresses;
    uint64_t number;
  };
  std::vector<Binding> bindings_;
  uint64_t number_ = 0;
};

// A queue that takes launches.
class LaunchQueue : public Queue {
 public:
  virtual void add(const LaunchedCall& call) = 0;
};

}  // namespace assay::engine::cuda
