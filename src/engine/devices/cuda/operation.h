#pragma once

#include "engine/devices/cuda/device.h"
#include "engine/devices/cuda/launch.h"

namespace assay::engine::cuda {

// An implementation that compiles its kernels, with the default variant only.
class Operation : public Implementation {
 public:
  explicit Operation(Programs& programs) : programs_(programs) {}

 protected:
  Programs& programs() const { return programs_; }

 private:
  Programs& programs_;
};

// The kernel that is this one launch.
inline std::unique_ptr<Kernel> single(Launch launch) {
  Launches launches;
  launches.all.push_back(std::move(launch));
  return make_kernel(std::move(launches));
}

// Blocks of so many threads for all results.
inline int64_t blocks_for(int64_t results, unsigned threads) { return (results + threads - 1) / threads; }

// Threads of a block that makes something of a row of this length.
inline unsigned threads_of_row(int64_t length) {
  constexpr int64_t kEach = 4;  // elements of a thread
  unsigned threads = 32;
  while (threads < 512 && threads * kEach < length) threads *= 2;
  return threads;
}

}  // namespace assay::engine::cuda
