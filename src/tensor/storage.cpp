#include "tensor/storage.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "tensor/storage_file.h"

namespace assay::tensor {
namespace {

class OwnedStorage final : public Storage {
 public:
  explicit OwnedStorage(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  uint64_t size_bytes() const override { return bytes_.size(); }
  Bytes bytes() const override { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class MappedStorage final : public Storage {
 public:
  MappedStorage(std::shared_ptr<const MappedFile> file, uint64_t offset, uint64_t size)
      : file_(std::move(file)), bytes_(file_->bytes().subspan(offset, size)) {}
  uint64_t size_bytes() const override { return bytes_.size(); }
  Bytes bytes() const override { return bytes_; }
  void release() const override { file_->release(offset(), bytes_.size()); }
  void copy_to(OutputFile& file) const { file.copy_from(*file_, offset(), bytes_.size()); }

 private:
  uint64_t offset() const { return static_cast<uint64_t>(bytes_.data() - file_->bytes().data()); }

  std::shared_ptr<const MappedFile> file_;
  Bytes bytes_;
};

class StringStorage final : public Storage {
 public:
  explicit StringStorage(std::vector<std::string> strings) : strings_(std::move(strings)) {
    for (const std::string& text : strings_) size_bytes_ += text.size();
  }
  uint64_t size_bytes() const override { return size_bytes_; }
  Bytes bytes() const override { return {}; }
  std::span<const std::string> strings() const override { return strings_; }

 private:
  std::vector<std::string> strings_;
  uint64_t size_bytes_ = 0;
};

class AbsentStorage final : public Storage {
 public:
  AbsentStorage(uint64_t size_bytes, Error reason) : size_bytes_(size_bytes), reason_(std::move(reason)) {}
  uint64_t size_bytes() const override { return size_bytes_; }
  Bytes bytes() const override { throw reason_; }

 private:
  uint64_t size_bytes_;
  Error reason_;
};

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};

class FillStorage final : public Storage {
 public:
  FillStorage(std::vector<std::byte> pattern, uint64_t size) : pattern_(std::move(pattern)), size_bytes_(size) {}
  uint64_t size_bytes() const override { return size_bytes_; }
  Bytes fill_pattern() const override { return pattern_; }

  Bytes bytes() const override {
    std::call_once(once_, [this] { materialise(); });
    return {memory_.get(), size_bytes_};
  }

 private:
  // Pages of zeros cost nothing until they are touched, so only other patterns are written.
  void materialise() const {
    if (size_bytes_ == 0) return;
    constexpr uint64_t kAddressable = uint64_t{1} << 47;
    const bool fits = size_bytes_ < kAddressable;
    memory_.reset(fits ? static_cast<std::byte*>(std::calloc(size_bytes_, 1)) : nullptr);
    if (!memory_) fail(ErrorCode::limit, "no memory for a filled tensor of {}", human_bytes(size_bytes_));
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (!std::ranges::all_of(pattern_, is_zero)) repeat_pattern();
  }

  // Doubles the part that is written until all is written.
  void repeat_pattern() const {
    std::memcpy(memory_.get(), pattern_.data(), pattern_.size());
    for (uint64_t done = pattern_.size(); done < size_bytes_;) {
      const uint64_t more = std::min(done, size_bytes_ - done);
      std::memcpy(memory_.get() + done, memory_.get(), more);
      done += more;
    }
  }

  std::vector<std::byte> pattern_;
  uint64_t size_bytes_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<std::byte, FreeMemory> memory_;
};

}  // namespace

std::span<const std::string> Storage::strings() const { check_failed("storage holds strings", __FILE__, __LINE__); }

StoragePtr make_owned(std::vector<std::byte> bytes) { return std::make_shared<OwnedStorage>(std::move(bytes)); }

StoragePtr make_mapped(std::shared_ptr<const MappedFile> file, uint64_t offset, uint64_t size) {
  const bool inside = offset <= file->size() && size <= file->size() - offset;
  if (!inside) {
    fail(ErrorCode::io, "`{}` has {} bytes, expected {} bytes from offset {}", file->path().native(), file->size(),
         size, offset);
  }
  return std::make_shared<MappedStorage>(std::move(file), offset, size);
}

StoragePtr make_strings(std::vector<std::string> strings) {
  return std::make_shared<StringStorage>(std::move(strings));
}

StoragePtr make_absent(uint64_t size_bytes, Error reason) {
  return std::make_shared<AbsentStorage>(size_bytes, std::move(reason));
}

StoragePtr make_fill(std::vector<std::byte> pattern, uint64_t count) {
  uint64_t size = 0;
  const bool overflows = __builtin_mul_overflow(pattern.size(), count, &size);
  if (overflows) fail(ErrorCode::limit, "a fill of {} elements of {} bytes is too large", count, pattern.size());
  return std::make_shared<FillStorage>(std::move(pattern), size);
}

void write_to(OutputFile& file, const Storage& storage) {
  if (const auto* const mapped = dynamic_cast<const MappedStorage*>(&storage)) return mapped->copy_to(file);
  storage.stream([&file](Bytes bytes) { file.write(bytes); });
}

}  // namespace assay::tensor
