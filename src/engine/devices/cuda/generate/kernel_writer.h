#pragma once

#include <string>
#include <string_view>

#include "engine/devices/cuda/launch.h"
#include "tensor/dtype.h"

namespace assay::engine::cuda {

// Puts a launch together: what its kernel is given gets a name in front of the kernel's text.
class KernelWriter {
 public:
  Launch& launch() { return launch_; }
  void pointer(std::string_view name, std::string_view type, const Pointer& pointer);
  void number(std::string_view name, int64_t value);
  void real(std::string_view name, float value);
  void divisor(std::string_view name, int64_t value);
  // Known while the kernel is compiled: each value makes another kernel.
  void constant(std::string_view name, int64_t value);
  void type(std::string_view name, tensor::DType dtype);
  // Text that follows the names.
  void text(std::string_view text) { names_ += text; }
  // Compiles the kernel of these texts, in their order.
  Launch finish(Programs& programs, unsigned threads, int64_t blocks, std::string_view kernel,
                std::string_view before = {});

 private:
  Launch launch_;
  std::string names_;
};

}  // namespace assay::engine::cuda
