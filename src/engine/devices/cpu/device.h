#pragma once

#include <memory>
#include <vector>

#include "base/registered.h"
#include "engine/device/device.h"

namespace assay::engine::cpu {

namespace onednn {
class Library;
}

using Implementations = std::vector<std::unique_ptr<Implementation>>;

// Libraries with kernels; null: not there.
struct Libraries {
  const onednn::Library* onednn = nullptr;
};

struct KernelFamily {
  Implementations (*make)(const Libraries& libraries) = nullptr;  // best first
};

// A family of these implementations, best first, which need no library.
template <typename... All>
KernelFamily family_of() {
  return {[](const Libraries&) {
    Implementations all;
    (all.push_back(std::make_unique<All>()), ...);
    return all;
  }};
}

// Every src/engine/devices/cpu/kernels/<family>.cpp defines `KernelFamily cpu_kernel_<family>()`.
std::span<const Registered<KernelFamily>> registered_kernels();

// The processor of this machine; its kernels run on the threads of the caller's pool.
std::unique_ptr<Device> make_device(const Libraries& libraries);

// The memory at an address.
template <typename T>
T* host(Address address) {
  return reinterpret_cast<T*>(address.value);
}

// A kernel that needs nothing but its addresses.
class PlainKernel : public Kernel {
 public:
  virtual void run(const Arguments& arguments) const = 0;
  std::unique_ptr<Call> bind(const Arguments& arguments) const override;
};

}  // namespace assay::engine::cpu
