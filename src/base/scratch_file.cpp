#include "base/scratch_file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/signal_tables.h"

namespace assay {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kFirstBytes = 16 << 20;

// False: a signal would end the program.
bool is_permitted(uint64_t size) {
  struct rlimit limit = {};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || size <= limit.rlim_cur;
}

// Gives a new file this size, without blocks so far, and maps it; nothing if that fails.
std::shared_ptr<const MappedFile> map_sparse(const std::filesystem::path& path, int fd, uint64_t size) {
  if (!is_permitted(size) || ftruncate(fd, static_cast<off_t>(size)) != 0) return nullptr;
  auto opened = attempt([&] { return MappedFile::open(path); });
  auto* const file = std::get_if<std::shared_ptr<const MappedFile>>(&opened);
  return file != nullptr ? std::move(*file) : nullptr;
}

bool write_at(int fd, Bytes bytes, uint64_t place) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(count));
    place += static_cast<uint64_t>(count);
  }
  return true;
}

}  // namespace

ScratchFile::~ScratchFile() {
  if (fd_ >= 0) close(fd_);
}

std::optional<ScratchFile::Range> ScratchFile::append(Bytes bytes) {
  const uint64_t place = (end_ + kPageBytes - 1) / kPageBytes * kPageBytes;
  const bool fits = file_ && place <= file_->size() && bytes.size() <= file_->size() - place;
  if (!fits && !begin(bytes.size())) return std::nullopt;
  const uint64_t offset = fits ? place : 0;
  if (!write_at(fd_, bytes, offset)) return std::nullopt;
  end_ = offset + bytes.size();
  return Range{file_, offset};
}

bool ScratchFile::begin(uint64_t size) {
  static std::atomic<uint64_t> counter{0};
  const auto path = folder_ / fmt::format(".assay.{}.{}.tmp", getpid(), counter.fetch_add(1));
  const int slot = remember_temporary(path.c_str());
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  std::shared_ptr<const MappedFile> file;
  if (fd >= 0) {
    file = map_sparse(path, fd, std::max({size, kFirstBytes, file_ ? 2 * file_->size() : 0}));
    unlink(path.c_str());
  }
  forget_temporary(slot);
  if (!file) {
    if (fd >= 0) close(fd);
    return false;
  }
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
  file_ = std::move(file);
  end_ = 0;
  return true;
}

}  // namespace assay
