#include "base/files.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/signal_tables.h"
#include "base/text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFirstBytes = 64 << 10;
constexpr size_t kMostStreamBytes = size_t{4} << 30;  // a stream is held in memory
constexpr size_t kMostDeviceBytes = size_t{1} << 20;  // terminals and /dev/null have little, /dev/zero has no end

// A file descriptor that is closed at the end of its scope unless released.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Anonymous pages that grow by doubling without copying.
class GrowingPages {
 public:
  explicit GrowingPages(const std::string& label) : label_(label) {}
  ~GrowingPages() {
    if (data_ != nullptr) munmap(data_, capacity_);
  }
  GrowingPages(const GrowingPages&) = delete;
  GrowingPages& operator=(const GrowingPages&) = delete;

  std::byte* data() const { return data_; }
  size_t capacity() const { return capacity_; }

  void resize(size_t size) {
    void* moved = data_ == nullptr ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                   : mremap(data_, capacity_, size, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) fail(ErrorCode::limit, "`{}`: no memory for {}", label_, human_bytes(size));
    data_ = static_cast<std::byte*>(moved);
    capacity_ = size;
  }

  // Hands the first `size` bytes over; who gets them unmaps them.
  const std::byte* release(size_t size) {
    if (size == 0) return nullptr;
    resize(size);
    return std::exchange(data_, nullptr);
  }

 private:
  const std::string& label_;
  std::byte* data_ = nullptr;
  size_t capacity_ = 0;
};

size_t read_some(int fd, std::span<std::byte> into, const std::string& label) {
  for (;;) {
    const ssize_t count = read(fd, into.data(), into.size());
    if (count >= 0) return static_cast<size_t>(count);
    pollfd readable = {fd, POLLIN, 0};
    if (errno == EAGAIN)
      poll(&readable, 1, -1);
    else if (errno != EINTR)
      fail(ErrorCode::io, "cannot read `{}`: {}", label, errno_text(errno));
  }
}

// Reads to the end of the stream. Returns the bytes and their number.
std::pair<const std::byte*, size_t> read_all(int fd, const std::string& label, size_t most) {
  GrowingPages pages(label);
  pages.resize(kFirstBytes);
  size_t size = 0;
  for (;;) {
    if (size == pages.capacity()) {
      if (size >= most) fail(ErrorCode::limit, "`{}` does not end within {} bytes, expected a file", label, size);
      pages.resize(2 * size);
    }
    const size_t count = read_some(fd, {pages.data() + size, pages.capacity() - size}, label);
    if (count == 0) break;
    size += count;
  }
  return {pages.release(size), size};
}

}  // namespace

MappedFile::MappedFile(fs::path path, int fd, const std::byte* data, uint64_t size)
    : path_(std::move(path)), fd_(fd), data_(data), size_(size) {
  if (fd_ >= 0) remember_mapping(data_, size_, printable(path_.native()).c_str());
}

MappedFile::~MappedFile() {
  if (fd_ >= 0) {
    forget_mapping(data_);
    close(fd_);
  }
  if (size_ > 0) munmap(const_cast<std::byte*>(data_), size_);
}

std::shared_ptr<const MappedFile> MappedFile::open(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0) fail(ErrorCode::io, "cannot open `{}`: {}", path.native(), errno_text(errno));
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) fail(ErrorCode::io, "cannot open `{}`: {}", path.native(), errno_text(errno));
  if (S_ISDIR(status.st_mode)) fail(ErrorCode::io, "`{}` is a folder, expected a file", path.native());
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) {
    const auto [data, size] = read_all(file.get(), path.native(), kMostDeviceBytes);
    return std::shared_ptr<const MappedFile>(new MappedFile(path, -1, data, size));
  }
  // Files of /proc say that they are empty and are not.
  if (!S_ISREG(status.st_mode) || status.st_size == 0) return read_stream(file.get(), path.native());
  const auto size = static_cast<size_t>(status.st_size);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED && errno == ENODEV) return read_stream(file.get(), path.native());
  if (data == MAP_FAILED) fail(ErrorCode::io, "cannot map `{}`: {}", path.native(), errno_text(errno));
  const auto* begin = static_cast<const std::byte*>(data);
  return std::shared_ptr<const MappedFile>(new MappedFile(path, file.release(), begin, size));
}

std::shared_ptr<const MappedFile> MappedFile::read_stream(int fd, std::string label) {
  const auto [data, size] = read_all(fd, label, kMostStreamBytes);
  return std::shared_ptr<const MappedFile>(new MappedFile(std::move(label), -1, data, size));
}

std::shared_ptr<const MappedFile> MappedFile::from_bytes(Bytes bytes, std::string label) {
  GrowingPages pages(label);
  if (!bytes.empty()) {
    pages.resize(bytes.size());
    memcpy(pages.data(), bytes.data(), bytes.size());
  }
  const std::byte* data = pages.release(bytes.size());
  return std::shared_ptr<const MappedFile>(new MappedFile(std::move(label), -1, data, bytes.size()));
}

void MappedFile::release(uint64_t offset, uint64_t size) const {
  if (fd_ < 0) return;  // memory of our own would lose its content
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = (offset + page - 1) / page * page;
  const uint64_t end = (offset + size) / page * page;
  if (begin < end) madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace assay
