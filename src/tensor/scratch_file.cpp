#include "tensor/scratch_file.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace assay::tensor {
namespace {

constexpr uint64_t kPageBytes = 4096;

bool write_at(int fd, Bytes bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return true;
}

// Pages of the file, which mappings keep when it is closed.
class ScratchStorage final : public Storage {
 public:
  ScratchStorage(void* pages, uint64_t size) : pages_(pages), size_(size) {}
  ~ScratchStorage() override { munmap(pages_, size_); }
  ScratchStorage(const ScratchStorage&) = delete;
  ScratchStorage& operator=(const ScratchStorage&) = delete;
  uint64_t size_bytes() const override { return size_; }
  Bytes bytes() const override { return {static_cast<const std::byte*>(pages_), size_}; }
  void release() const override { madvise(pages_, size_, MADV_DONTNEED); }

 private:
  void* pages_;
  uint64_t size_;
};

}  // namespace

ScratchFile::~ScratchFile() { close(fd_); }

std::unique_ptr<ScratchFile> ScratchFile::make(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  return fd < 0 ? nullptr : std::unique_ptr<ScratchFile>(new ScratchFile(fd));
}

StoragePtr ScratchFile::append(Bytes bytes) {
  if (bytes.empty() || !write_at(fd_, bytes, size_)) return nullptr;
  void* const pages = mmap(nullptr, bytes.size(), PROT_READ, MAP_SHARED, fd_, static_cast<off_t>(size_));
  if (pages == MAP_FAILED) return nullptr;
  size_ += (bytes.size() + kPageBytes - 1) / kPageBytes * kPageBytes;
  return std::make_shared<ScratchStorage>(pages, bytes.size());
}

}  // namespace assay::tensor
