#include "tensor/borrowed.h"

namespace assay::tensor {
namespace {

class BorrowedStorage final : public Storage {
 public:
  explicit BorrowedStorage(Bytes bytes) : bytes_(bytes) {}
  uint64_t size_bytes() const override { return bytes_.size(); }
  Bytes bytes() const override { return bytes_; }

 private:
  Bytes bytes_;
};

}  // namespace

StoragePtr make_borrowed(Bytes bytes) { return std::make_shared<BorrowedStorage>(bytes); }

bool is_borrowed(const Storage& storage) { return dynamic_cast<const BorrowedStorage*>(&storage) != nullptr; }

}  // namespace assay::tensor
