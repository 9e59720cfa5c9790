#include "engine/weights/uploaded.h"

namespace assay::engine {

Buffer UploadedConstants::get(const tensor::Tensor& constant, const Device& device) {
  const tensor::Bytes bytes = constant.bytes();
  if (device.is_host()) return {host_address(bytes.data()), bytes.size(), constant.storage()};
  const std::scoped_lock lock(mutex_);
  std::erase_if(held_, [](const auto& one) { return one.second.owner.expired(); });
  Held& held = held_[{&device, constant.storage().get()}];
  if (held.storage.lock() == constant.storage()) {
    if (std::shared_ptr<const void> owner = held.owner.lock()) return {held.first, bytes.size(), std::move(owner)};
  }
  Buffer made = device.allocate(bytes.size());
  const std::unique_ptr<Queue> queue = device.make_queue();
  queue->upload(bytes, made.first);
  queue->wait();
  held = {constant.storage(), made.owner, made.first};
  return made;
}

}  // namespace assay::engine
