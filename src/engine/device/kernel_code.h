#pragma once

#include <memory>
#include <string>

#include "base/files.h"

namespace assay::engine {

// Compiled code of a kernel, by a name that tells from which text, and for which hardware.
struct KernelCode {
  std::string name;
  std::shared_ptr<const std::byte> first;
  uint64_t bytes = 0;

  Bytes view() const { return {first.get(), bytes}; }
};

}  // namespace assay::engine
