#pragma once

#include <map>
#include <mutex>

#include "engine/device/device.h"
#include "tensor/tensor.h"

namespace assay::engine {

// Constants in the memory of devices: on the host as they lie, elsewhere uploaded once for all programs that share
// them. May be used from several threads.
class UploadedConstants {
 public:
  // The elements of a constant; they stay while the buffer does.
  Buffer get(const tensor::Tensor& constant, const Device& device);

 private:
  struct Held {
    std::weak_ptr<const tensor::Storage> storage;  // another one may come to lie there
    std::weak_ptr<const void> owner;
    Address first;
  };
  std::mutex mutex_;
  std::map<std::pair<const Device*, const tensor::Storage*>, Held> held_;
};

}  // namespace assay::engine
