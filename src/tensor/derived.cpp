#include "tensor/derived.h"

#include <mutex>

namespace assay::tensor {
namespace {

class DerivedStorage final : public Storage {
 public:
  DerivedStorage(uint64_t size_bytes, std::function<std::vector<std::byte>()> make)
      : size_bytes_(size_bytes), make_(std::move(make)) {}
  uint64_t size_bytes() const override { return size_bytes_; }
  Bytes bytes() const override {
    const std::scoped_lock lock(mutex_);
    if (!made_) made_ = std::make_shared<const std::vector<std::byte>>(make_());
    return *made_;
  }
  void stream(FunctionRef<void(Bytes piece)> sink) const override {
    const std::shared_ptr<const std::vector<std::byte>> made = kept();
    sink(made ? *made : make_());
  }
  void let_go() const {
    const std::scoped_lock lock(mutex_);
    made_.reset();
  }

 private:
  std::shared_ptr<const std::vector<std::byte>> kept() const {
    const std::scoped_lock lock(mutex_);
    return made_;
  }

  uint64_t size_bytes_;
  std::function<std::vector<std::byte>()> make_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const std::vector<std::byte>> made_;
};

}  // namespace

StoragePtr make_derived(uint64_t size_bytes, std::function<std::vector<std::byte>()> make) {
  return std::make_shared<DerivedStorage>(size_bytes, std::move(make));
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
