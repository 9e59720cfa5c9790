#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/errno_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/large_memory.h"
#include "base/parallel.h"
#include "base/signal_tables.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCopiedBytes = 64 << 10;  // of a mapped file; less is buffered
constexpr uint64_t kCopyStepBytes = 16 << 20;
constexpr uint64_t kAtOnceBytes = 128 << 20;  // threads wait for each other, so that less takes more time
constexpr uint64_t kMapBytes = 4 << 20;
constexpr uint64_t kPageBytes = 4096;
// Writes end at multiples of kHugePage, so that the system can keep files in memory in pages of this size: mapped, such
// pages cost next to nothing, and small ones as much as reading them.
static_assert(kMapBytes % kHugePage == 0 && kCopyStepBytes % kHugePage == 0);
constexpr int kMapNow = 22;  // MADV_POPULATE_READ, which older headers do not have

// Maps the pages of a range at once, which is quicker than one by one when they are read.
void fetch(Bytes range) {
  const auto inside = reinterpret_cast<uintptr_t>(range.data()) % kPageBytes;
  madvise(const_cast<std::byte*>(range.data()) - inside, range.size() + inside, kMapNow);
}

// True if both places lie alike in their pages, so that file systems can share blocks.
bool lies_alike(const MappedFile& file, uint64_t offset, uint64_t place) {
  return file.fd() >= 0 && offset % kPageBytes == place % kPageBytes;
}

// Copies a range through the buffer. Pages of the source do not stay in memory.
void write_range(const MappedFile& file, uint64_t offset, uint64_t size, OutputFile& target) {
  for (const uint64_t end = offset + size; offset < end;) {
    const uint64_t step = std::min(end - offset, kMapBytes);
    const Bytes piece = file.bytes().subspan(offset, step);
    fetch(piece);
    target.write(piece);
    file.release(offset, step);
    offset += step;
  }
}

// Copies a range to a place of a file, and gives how many bytes could be copied. Pages of the source do not stay in
// memory.
uint64_t copy_range(const MappedFile& file, uint64_t offset, uint64_t size, int target, uint64_t place) {
  auto from = static_cast<off_t>(offset);
  auto to = static_cast<off_t>(place);
  const off_t end = from + static_cast<off_t>(size);
  const auto rest = [&] { return static_cast<uint64_t>(end - from); };
  ssize_t count = lies_alike(file, offset, place) ? 1 : 0;
  while (from < end && count > 0) count = copy_file_range(file.fd(), &from, target, &to, rest(), 0);
  while (from < end) {
    const uint64_t step = std::min(rest(), kMapBytes - static_cast<uint64_t>(to) % kMapBytes);
    const Bytes piece = file.bytes().subspan(static_cast<uint64_t>(from), step);
    fetch(piece);
    count = pwrite(target, piece.data(), step, to);
    if (count <= 0) break;
    file.release(static_cast<uint64_t>(from), step);
    from += count;
    to += count;
  }
  return size - rest();
}

// Several pieces at once, where that is worth it. Gives how many bytes were copied before the first fault.
uint64_t copy_at_once(const MappedFile& file, uint64_t offset, uint64_t size, int target, uint64_t place) {
  const uint64_t step = size < kAtOnceBytes ? size : kCopyStepBytes;
  std::vector<uint64_t> copied((size + step - 1) / step);
  parallel_for(size, step, [&](uint64_t begin, uint64_t end) {
    copied[begin / step] = copy_range(file, offset + begin, end - begin, target, place + begin);
  });
  uint64_t sum = 0;
  for (size_t i = 0; i < copied.size() && sum == i * step; ++i) sum += copied[i];
  return sum;
}

// N of a path below /proc that stands for this process's descriptor N.
std::optional<int> own_descriptor(const fs::path& folder, const std::string& name) {
  if (folder != fmt::format("/proc/{}/fd", getpid())) return std::nullopt;
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// The end of a chain of links: a name (there may be no file yet), and our descriptor if it is one (/dev/stdout).
struct LinkEnd {
  fs::path path;
  std::optional<int> descriptor;
};

std::optional<LinkEnd> follow_links(fs::path path) {
  constexpr int kMaxLinks = 40;
  for (int step = 0; step < kMaxLinks; ++step) {
    std::error_code error;
    const fs::path folder = fs::weakly_canonical(path.parent_path(), error);
    if (const std::optional<int> own = own_descriptor(folder, path.filename().native())) return LinkEnd{path, own};
    if (!fs::is_symlink(fs::symlink_status(path, error))) return LinkEnd{path, std::nullopt};
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return std::nullopt;
}

void create_parent(const fs::path& target) {
  std::error_code error;
  const fs::path parent = target.parent_path();
  fs::create_directories(parent, error);
  if (error) fail(ErrorCode::io, "cannot create the folder `{}`: {}", parent.native(), errno_text(error.value()));
}

fs::path temporary_beside(const fs::path& target) {
  static std::atomic<uint64_t> counter{0};
  constexpr size_t kNameBytes = 200;  // leaves room for the rest of a name of at most 255 bytes
  const std::string name = target.filename().native().substr(0, kNameBytes);
  return target.parent_path() / fmt::format(".{}.{}.{}.tmp", name, getpid(), counter.fetch_add(1));
}

// True if there is a regular file without content: somebody made it for us, and may read it through a descriptor.
bool is_waiting(const fs::path& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

// Puts the content of one file into another, which is empty and stays so where that fails.
bool fill(const fs::path& target, const fs::path& source) {
  const int from = ::open(source.c_str(), O_RDONLY | O_CLOEXEC);
  const int to = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
  ssize_t count = from < 0 || to < 0 ? -1 : 1;
  while (count > 0) count = copy_file_range(from, nullptr, to, nullptr, kCopyStepBytes, 0);
  bool is_done = count == 0;
  if (!is_done && to >= 0) [[maybe_unused]]
    const int ignored = ftruncate(to, 0);  // the file is replaced afterwards
  if (from >= 0) close(from);
  if (to >= 0) is_done &= close(to) == 0;
  return is_done;
}

}  // namespace

OutputFile::OutputFile(const fs::path& path) : path_(path) {
  if (path == "-") {
    fail(ErrorCode::usage, "`-` means standard output, which this cannot be written to; a file of that name is `./-`");
  }
  std::error_code error;
  const std::optional<LinkEnd> end = follow_links(fs::absolute(path, error));
  if (path.empty() || !end) fail_to_write(path.empty() ? ENOENT : ELOOP);
  target_ = end->path;
  const fs::file_status status = fs::status(target_, error);
  const bool is_folder = fs::is_directory(status) || !target_.has_filename();
  if (is_folder) fail(ErrorCode::io, "`{}` is a folder, expected a file", path_.native());
  if (end->descriptor) {
    fd_ = fcntl(*end->descriptor, F_DUPFD_CLOEXEC, 0);
    if (fd_ < 0) fail_to_write(errno);
  } else if (fs::exists(status) && !fs::is_regular_file(status)) {
    open_directly();
  } else {
    open_temporary();
  }
}

void OutputFile::open_directly() {
  fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (fd_ < 0) fail_to_write(errno);
}

void OutputFile::open_temporary() {
  struct stat status = {};
  const bool exists = stat(target_.c_str(), &status) == 0;
  if (exists && access(target_.c_str(), W_OK) != 0) fail_to_write(errno);
  if (!exists) create_parent(target_);
  do {
    forget_temporary(slot_);
    temporary_ = temporary_beside(target_);
    slot_ = remember_temporary(temporary_.c_str());
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) {
    const int error = errno;
    forget_temporary(slot_);
    fail_to_write(error);
  }
  // Not every file system keeps modes; the content matters more.
  [[maybe_unused]] const int ignored = exists ? fchmod(fd_, status.st_mode & 07777) : 0;
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  forget_temporary(slot_);
}

void OutputFile::write(Bytes bytes) {
  if (const uint64_t room = kHugePage - position_ % kHugePage; !buffer_.empty() || bytes.size() < room) {
    const Bytes first = bytes.first(std::min<uint64_t>(bytes.size(), room));
    buffer_.insert(buffer_.end(), first.begin(), first.end());
    position_ += first.size();
    if (first.size() == room) flush();
    bytes = bytes.subspan(first.size());
  }
  if (bytes.empty()) return;
  const uint64_t rest = std::min<uint64_t>(bytes.size(), (position_ + bytes.size()) % kHugePage);
  write_out(bytes.first(bytes.size() - rest));
  const Bytes last = bytes.last(rest);
  buffer_.assign(last.begin(), last.end());
  position_ += bytes.size();
}

void OutputFile::flush() {
  write_out(buffer_);
  buffer_.clear();
}

void OutputFile::write_out(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(count));
      continue;
    }
    pollfd writable = {fd_, POLLOUT, 0};
    if (errno == EAGAIN)
      poll(&writable, 1, -1);
    else if (errno == EFAULT)
      fail(ErrorCode::io, "cannot write `{}`: a file that it is made from shrank while it was read", path_.native());
    else if (errno != EINTR)
      fail_to_write(errno);
  }
}

void OutputFile::copy_from(const MappedFile& file, uint64_t offset, uint64_t size) {
  ASSAY_CHECK(offset <= file.size() && size <= file.size() - offset);
  if (size < kCopiedBytes) return write(file.bytes().subspan(offset, size));
  const uint64_t end = offset + size;
  const bool is_alike = lies_alike(file, offset, position_);
  if (!is_alike) {
    const uint64_t first = std::min(size, (kHugePage - position_ % kHugePage) % kHugePage);
    write_range(file, offset, first, *this);
    offset += first;
  }
  const uint64_t whole = is_alike ? size : (end - offset) / kHugePage * kHugePage;
  if (whole > 0 && !temporary_.empty()) {
    flush();
    const uint64_t copied = copy_at_once(file, offset, whole, fd_, position_);
    offset += copied;
    position_ += copied;
    if (lseek(fd_, static_cast<off_t>(position_), SEEK_SET) < 0) fail_to_write(errno);
  }
  write_range(file, offset, end - offset, *this);  // also into what is no regular file; a fault shows here again
}

void OutputFile::commit() {
  flush();
  if (close(std::exchange(fd_, -1)) != 0 && errno != EINTR) fail_to_write(errno);
  if (temporary_.empty()) return;
  if (is_waiting(target_) && fill(target_, temporary_)) {
    unlink(temporary_.c_str());
  } else if (rename(temporary_.c_str(), target_.c_str()) != 0) {
    fail_to_write(errno);
  }
  temporary_.clear();
  forget_temporary(std::exchange(slot_, -1));
}

void OutputFile::fail_to_write(int error) const {
  fail(ErrorCode::io, "cannot write `{}`: {}", path_.native(), errno_text(error));
}

}  // namespace assay
