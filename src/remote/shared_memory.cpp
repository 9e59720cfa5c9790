#include "remote/shared_memory.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/text.h"

namespace assay::remote {
namespace {

constexpr uint64_t kMostAtOnce = uint64_t{1} << 28;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

class Mapping {
 public:
  Mapping(const Descriptor& memory, uint64_t size_bytes) : size_bytes_(size_bytes) {
    // All pages at once, unless they are so many that somebody may mean harm, so that no computation waits for them.
    const int populates = size_bytes <= kMostAtOnce ? MAP_POPULATE : 0;
    address_ = mmap(nullptr, size_bytes, PROT_READ, MAP_SHARED | populates, memory.number(), 0);
    if (address_ == MAP_FAILED) {
      fail(ErrorCode::limit, "cannot map {} of shared memory: {}", human_bytes(size_bytes), errno_text(errno));
    }
  }
  ~Mapping() { munmap(address_, size_bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  Bytes bytes() const { return {static_cast<const std::byte*>(address_), size_bytes_}; }

 private:
  void* address_;
  uint64_t size_bytes_;
};

class SharedStorage final : public tensor::Storage {
 public:
  explicit SharedStorage(SharedBytes part) : part_(std::move(part)) {}
  uint64_t size_bytes() const override { return part_.bytes.size(); }
  Bytes bytes() const override { return part_.bytes; }

 private:
  SharedBytes part_;
};

// Returns 0 or an errno.
int write_at(const Descriptor& memory, uint64_t offset, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(memory.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : ENOSPC;
    offset += static_cast<uint64_t>(count);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return 0;
}

void check(bool worked, uint64_t size_bytes, int error) {
  if (worked) return;
  fail(ErrorCode::limit, "cannot make {} of shared memory: {}", human_bytes(size_bytes), errno_text(error));
}

}  // namespace

Descriptor make_shared_memory(uint64_t size_bytes, std::span<const Placed> pieces) {
  Descriptor memory(memfd_create("assay", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  check(memory.is_open(), size_bytes, errno);
  check(ftruncate(memory.number(), static_cast<off_t>(size_bytes)) == 0, size_bytes, errno);
  for (const Placed& piece : pieces) {
    const int error = write_at(memory, piece.offset, piece.content->bytes());
    check(error == 0, size_bytes, error);
  }
  check(fcntl(memory.number(), F_ADD_SEALS, kSeals) == 0, size_bytes, errno);
  return memory;
}

SharedBytes map_shared_memory(const Descriptor& memory, uint64_t size_bytes) {
  struct stat status = {};
  const int seals = fcntl(memory.number(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || fstat(memory.number(), &status) != 0) {
    fail(ErrorCode::backend, "another process sent memory that may change under us");
  }
  const auto there = static_cast<uint64_t>(status.st_size);
  if (size_bytes == 0 || there < size_bytes) {
    fail(ErrorCode::backend, "another process sent {} bytes of memory and promised {}", there, size_bytes);
  }
  const auto mapping = std::make_shared<const Mapping>(memory, size_bytes);
  return {mapping->bytes(), mapping};
}

tensor::StoragePtr make_shared_storage(const SharedBytes& memory, uint64_t offset, uint64_t size_bytes) {
  const uint64_t there = memory.bytes.size();
  if (offset > there || size_bytes > there - offset) {
    fail(ErrorCode::backend, "another process sent {} bytes of memory, expected {} bytes from offset {}", there,
         size_bytes, offset);
  }
  return std::make_shared<SharedStorage>(SharedBytes{memory.bytes.subspan(offset, size_bytes), memory.owner});
}

}  // namespace assay::remote
