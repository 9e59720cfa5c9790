#include "engine/run/device_storage.h"

#include <algorithm>

#include "engine/run/arena.h"
#include "tensor/borrowed.h"

namespace assay::engine {
namespace {

tensor::StoragePtr download(const DeviceStorage::Place& place) {
  return with_frame([&] { return fmt::format("a value on {}", place.device.name()); },
                    [&] {
                      std::vector<std::byte> bytes(place.memory.bytes);
                      const std::unique_ptr<Queue> queue = place.device.make_queue();
                      queue->download(place.memory.first, bytes);
                      queue->wait();
                      return tensor::make_owned(std::move(bytes));
                    });
}

Buffer upload(tensor::Bytes bytes, const Device& device) {
  Buffer memory = allocate_on(device, bytes.size());
  with_frame([&] { return fmt::format("a value for {}", device.name()); },
             [&] {
               const std::unique_ptr<Queue> queue = device.make_queue();
               queue->upload(bytes, memory.first);
               queue->wait();
             });
  return memory;
}

bool is_borrowed(const tensor::Tensor& tensor) {
  if (!tensor.storage()) return false;
  const DeviceStorage* const shared = as_device_storage(tensor);
  return shared != nullptr ? shared->is_borrowed() : tensor::is_borrowed(*tensor.storage());
}

tensor::Tensor with_own_memory(const tensor::Tensor& tensor) {
  if (!is_borrowed(tensor)) return tensor;
  const tensor::Bytes bytes = tensor.bytes();
  return tensor::Tensor(tensor.dtype(), tensor.shape(), tensor::make_owned({bytes.begin(), bytes.end()}));
}

}  // namespace

tensor::StoragePtr DeviceStorage::host() const {
  const std::scoped_lock lock(mutex_);
  if (!host_) host_ = download(places_.front());
  return host_;
}

Buffer DeviceStorage::on(const Device& device) const {
  const std::scoped_lock lock(mutex_);
  const auto known = std::ranges::find_if(places_, [&](const Place& place) { return &place.device == &device; });
  if (known != places_.end()) return known->memory;
  if (!host_) host_ = download(places_.front());
  return places_.emplace_back(device, upload(host_->bytes(), device)).memory;
}

std::optional<DeviceStorage::Place> DeviceStorage::find_place() const {
  const std::scoped_lock lock(mutex_);
  return places_.empty() ? std::nullopt : std::optional(places_.front());
}

bool DeviceStorage::is_borrowed() const {
  const std::scoped_lock lock(mutex_);
  return host_ && tensor::is_borrowed(*host_);
}

void DeviceStorage::renew() const {
  const std::scoped_lock lock(mutex_);
  host_.reset();
  while (places_.size() > 1) places_.pop_back();
}

const DeviceStorage* as_device_storage(const tensor::Tensor& tensor) {
  return dynamic_cast<const DeviceStorage*>(tensor.storage().get());
}

tensor::Datum shared_with_devices(const tensor::Datum& datum) {
  if (!datum.is_tensor()) return datum;
  const tensor::Tensor& tensor = datum.tensor();
  if (tensor::bit_width(tensor.dtype()) < 8 || as_device_storage(tensor) != nullptr) return datum;
  tensor::StoragePtr host = tensor.storage() ? tensor.storage() : tensor::make_owned({});
  return {tensor::Tensor(tensor.dtype(), tensor.shape(), std::make_shared<DeviceStorage>(std::move(host))),
          datum.declared()};
}

tensor::Datum on_host(const tensor::Datum& datum) {
  if (datum.is_sequence()) {
    std::vector<tensor::Datum> items;
    for (const tensor::Datum& item : datum.items()) items.push_back(on_host(item));
    return tensor::Datum::sequence(std::move(items));
  }
  const DeviceStorage* const storage = datum.is_tensor() ? as_device_storage(datum.tensor()) : nullptr;
  if (storage == nullptr) return datum;
  return {tensor::Tensor(datum.tensor().dtype(), datum.tensor().shape(), storage->host()), datum.declared()};
}

tensor::Datum with_own_memory(const tensor::Datum& made) {
  if (made.is_tensor()) return with_own_memory(made.tensor());
  if (made.is_map()) return tensor::Datum::map(with_own_memory(made.keys()), with_own_memory(made.values()));
  if (!made.is_sequence()) return made;
  std::vector<tensor::Datum> items;
  for (const tensor::Datum& item : made.items()) items.push_back(with_own_memory(item));
  return tensor::Datum::sequence(std::move(items));
}

}  // namespace assay::engine
