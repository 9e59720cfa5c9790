#include "formats/lazy_storage.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

namespace assay::formats {
namespace {

// The system promises more memory than it has, so that a large piece is asked for only where it is.
std::byte* allocate(uint64_t size) {
  constexpr uint64_t kLarge = uint64_t{64} << 20;
  const bool fits = size < kLarge || size <= available_memory_bytes();
  std::byte* const memory = fits ? new (std::nothrow) std::byte[size] : nullptr;
  if (memory == nullptr) fail(ErrorCode::limit, "no memory for {}", human_bytes(size));
  return memory;
}

class LazyStorage final : public tensor::Storage {
 public:
  LazyStorage(uint64_t size, std::function<void(std::span<std::byte>)> make) : size_(size), make_(std::move(make)) {}
  uint64_t size_bytes() const override { return size_; }
  Bytes bytes() const override {
    const std::lock_guard lock(mutex_);
    if (!buffer_) buffer_.emplace(made());
    return buffer_->bytes();
  }
  // Streams the content; if it is not held, it is made for the sink only.
  void stream(FunctionRef<void(Bytes piece)> sink) const override {
    if (is_held()) return sink(bytes());
    const Buffer buffer = made();
    sink(buffer.bytes());
  }
  void release() const override {
    const std::lock_guard lock(mutex_);
    buffer_.reset();
  }

 private:
  bool is_held() const {
    const std::lock_guard lock(mutex_);
    return buffer_.has_value();
  }
  Buffer made() const {
    Buffer buffer(size_);
    make_(buffer.bytes());
    return buffer;
  }

  uint64_t size_;
  std::function<void(std::span<std::byte>)> make_;
  mutable std::mutex mutex_;
  mutable std::optional<Buffer> buffer_;
};

class LazyStrings final : public tensor::Storage {
 public:
  LazyStrings(uint64_t count, std::function<std::vector<std::string>()> make) : count_(count), make_(std::move(make)) {}
  uint64_t size_bytes() const override { return count_; }
  Bytes bytes() const override { return {}; }
  std::span<const std::string> strings() const override {
    std::call_once(once_, [this] { strings_ = make_(); });
    return strings_;
  }

 private:
  uint64_t count_;
  std::function<std::vector<std::string>()> make_;
  mutable std::once_flag once_;
  mutable std::vector<std::string> strings_;
};

class PartStorage final : public tensor::Storage {
 public:
  PartStorage(tensor::StoragePtr whole, uint64_t offset, uint64_t size)
      : whole_(std::move(whole)), offset_(offset), size_(size) {}
  uint64_t size_bytes() const override { return size_; }
  Bytes bytes() const override { return whole_->bytes().subspan(offset_, size_); }
  void stream(FunctionRef<void(Bytes piece)> sink) const override {
    uint64_t at = 0;
    whole_->stream([&](Bytes piece) {
      const uint64_t begin = std::clamp(offset_, at, at + piece.size());
      const uint64_t end = std::clamp(offset_ + size_, begin, at + piece.size());
      if (begin < end) sink(piece.subspan(begin - at, end - begin));
      at += piece.size();
    });
  }
  void release() const override { whole_->release(); }

 private:
  tensor::StoragePtr whole_;
  uint64_t offset_;
  uint64_t size_;
};

}  // namespace

Buffer::Buffer(uint64_t count) : data(allocate(count)), size(count) {}

tensor::StoragePtr make_lazy(uint64_t size, std::function<void(std::span<std::byte>)> make) {
  return std::make_shared<LazyStorage>(size, std::move(make));
}

tensor::StoragePtr make_lazy_strings(uint64_t count, std::function<std::vector<std::string>()> make) {
  return std::make_shared<LazyStrings>(count, std::move(make));
}

tensor::StoragePtr make_part(tensor::StoragePtr whole, uint64_t offset, uint64_t size) {
  return std::make_shared<PartStorage>(std::move(whole), offset, size);
}

}  // namespace assay::formats
