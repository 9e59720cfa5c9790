#include "tensor/derived.h"

#include <mutex>

#include "base/large_memory.h"

namespace assay::tensor {
namespace {

class DerivedStorage final : public Storage {
 public:
  DerivedStorage(uint64_t size_bytes, std::function<void(std::span<std::byte>)> fill)
      : size_bytes_(size_bytes), fill_(std::move(fill)) {}
  uint64_t size_bytes() const override { return size_bytes_; }
  Bytes bytes() const override {
    const std::scoped_lock lock(mutex_);
    if (!made_) made_ = make();
    return {made_.get(), size_bytes_};
  }
  void stream(FunctionRef<void(Bytes piece)> sink) const override {
    std::shared_ptr<const std::byte> made = kept();
    if (!made) made = make();
    sink({made.get(), size_bytes_});
  }
  void let_go() const {
    const std::scoped_lock lock(mutex_);
    made_.reset();
  }

 private:
  std::shared_ptr<const std::byte> make() const {
    std::shared_ptr<std::byte> made(static_cast<std::byte*>(allocate_large(size_bytes_)), FreeLarge());
    fill_({made.get(), size_bytes_});
    return made;
  }
  std::shared_ptr<const std::byte> kept() const {
    const std::scoped_lock lock(mutex_);
    return made_;
  }

  uint64_t size_bytes_;
  std::function<void(std::span<std::byte>)> fill_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const std::byte> made_;
};

}  // namespace

StoragePtr make_derived(uint64_t size_bytes, std::function<void(std::span<std::byte> bytes)> fill) {
  return std::make_shared<DerivedStorage>(size_bytes, std::move(fill));
}

void make_now(const Storage& storage) {
  if (const auto* const derived = dynamic_cast<const DerivedStorage*>(&storage)) static_cast<void>(derived->bytes());
}

void let_go_of(const Storage& storage) {
  storage.release();
  if (const auto* const derived = dynamic_cast<const DerivedStorage*>(&storage)) derived->let_go();
}

const void* identity_of(const Storage& storage) {
  if (dynamic_cast<const DerivedStorage*>(&storage) != nullptr) return &storage;
  return storage.bytes().data();
}

}  // namespace assay::tensor
