#pragma once

#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "base/function_ref.h"
#include "engine/weights/packed_weights.h"

namespace assay::engine {

// Constants in the memory of devices, as they are or in the forms that kernels want: on the host where they lie,
// elsewhere uploaded once for all programs that share them. May be used from several threads.
class UploadedConstants {
 public:
  // The elements of a constant; they stay while the buffer does.
  Buffer get(const tensor::Tensor& constant, const Device& device);
  // A form of a constant, which `make` gives on the host.
  Buffer get(const tensor::Tensor& constant, const std::string& form, const Device& device, FunctionRef<Buffer()> make);
  bool has(const tensor::Tensor& constant, const std::string& form, const Device& device) const;

 private:
  struct Held {
    std::weak_ptr<const tensor::Storage> storage;  // another one may come to lie there
    std::weak_ptr<const void> owner;
    Address first;
    uint64_t bytes = 0;
    Buffer held_for(const tensor::Tensor& constant) const;
  };
  using Key = std::tuple<const Device*, const tensor::Storage*, std::string>;  // the form `""`: as it is
  mutable std::mutex mutex_;
  std::map<Key, Held> held_;
};

// Forms in the memory of one device that is not the host, made by `host`.
class UploadedWeights final : public PackedWeights {
 public:
  UploadedWeights(const Device& device, KeptWeights& host, UploadedConstants& uploaded)
      : device_(device), host_(host), uploaded_(uploaded) {}
  Buffer get(const tensor::Tensor& weights, const std::string& form, uint64_t size_bytes,
             const std::function<void(std::byte*)>& fill) override {
    const auto make = [&] { return host_.get(weights, form, size_bytes, fill); };
    if (host_.moves_out()) return {{}, size_bytes, make().owner};
    return uploaded_.get(weights, form, device_, make);
  }
  bool has(const tensor::Tensor& weights, const std::string& form) const override {
    return uploaded_.has(weights, form, device_) || host_.has(weights, form);
  }
  void settle() override { host_.settle(); }

 private:
  const Device& device_;
  KeptWeights& host_;
  UploadedConstants& uploaded_;
};

}  // namespace assay::engine
