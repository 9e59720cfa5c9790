#include "engine/weights/uploaded.h"

namespace assay::engine {
namespace {

Buffer upload(const Buffer& host, const Device& device) {
  Buffer made = device.allocate(host.bytes);
  const std::unique_ptr<Queue> queue = device.make_queue();
  queue->upload({host_bytes(host.first), host.bytes}, made.first);
  queue->wait();
  return made;
}

}  // namespace

// Without an owner, if it is of another constant or nobody holds it any more.
Buffer UploadedConstants::Held::held_for(const tensor::Tensor& constant) const {
  if (storage.lock() != constant.storage()) return {};
  return {first, bytes, owner.lock()};
}

Buffer UploadedConstants::get(const tensor::Tensor& constant, const Device& device) {
  const auto lie = [&] {
    const tensor::Bytes bytes = constant.bytes();
    return Buffer{host_address(bytes.data()), bytes.size(), constant.storage()};
  };
  return device.is_host() ? lie() : get(constant, "", device, lie);
}

Buffer UploadedConstants::get(const tensor::Tensor& constant, const std::string& form, const Device& device,
                              FunctionRef<Buffer()> make) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(held_, [](const auto& one) { return one.second.owner.expired(); });
  Held& held = held_[{&device, constant.storage().get(), form}];
  if (Buffer known = held.held_for(constant); known.owner) return known;
  Buffer made = upload(make(), device);
  held = {constant.storage(), made.owner, made.first, made.bytes};
  return made;
}

bool UploadedConstants::has(const tensor::Tensor& constant, const std::string& form, const Device& device) const {
  const std::scoped_lock lock(mutex_);
  const auto found = held_.find({&device, constant.storage().get(), form});
  return found != held_.end() && found->second.held_for(constant).owner;
}

}  // namespace assay::engine
