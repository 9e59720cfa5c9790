#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "engine/device/device.h"
#include "tensor/datum.h"

namespace assay::engine {

// The elements of a value of which devices may have copies. It is copied to where somebody looks at it, once, and stays
// there as long as the storage. May be used from several threads; devices must outlive it.
class DeviceStorage final : public tensor::Storage {
 public:
  struct Place {
    const Device& device;
    Buffer memory;
  };

  // In memory of a device, filled or not yet.
  explicit DeviceStorage(Place made) : size_bytes_(made.memory.bytes), places_{std::move(made)} {}
  // On the host.
  explicit DeviceStorage(tensor::StoragePtr host) : size_bytes_(host->size_bytes()), host_(std::move(host)) {}

  uint64_t size_bytes() const override { return size_bytes_; }
  // Error that names the device if they cannot be downloaded.
  tensor::Bytes bytes() const override { return host()->bytes(); }
  tensor::StoragePtr host() const;
  // Memory on a device, filled. Error (limit) if the device has too little.
  Buffer on(const Device& device) const;
  // Nullopt: only the host has it.
  std::optional<Place> find_place() const;
  // True if the host's bytes are someone else's.
  bool is_borrowed() const;
  // Says that where it was made it is made anew: copies elsewhere are let go of. Nobody else may hold it.
  void renew() const;

 private:
  const uint64_t size_bytes_;
  mutable std::mutex mutex_;
  mutable std::vector<Place> places_;
  mutable tensor::StoragePtr host_;  // null: not there
};

// Null: another storage.
const DeviceStorage* as_device_storage(const tensor::Tensor& tensor);
// The tensor, with elements that can be copied to devices; what is no tensor of whole bytes stays as it is.
tensor::Datum shared_with_devices(const tensor::Datum& datum);
// The value with all elements on the host.
tensor::Datum on_host(const tensor::Datum& datum);
// The value in memory of its own, where it was borrowed: a result of the reference may be an operand in the arena,
// which is written anew soon.
tensor::Datum with_own_memory(const tensor::Datum& made);

}  // namespace assay::engine
