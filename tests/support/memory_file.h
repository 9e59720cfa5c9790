#pragma once

#include <cstdlib>
#include <string>

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

// A file without a place on disk, for writers that want a path.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("fuzz", 0)) {}
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return fmt::format("/proc/{}/fd/{}", getpid(), fd_); }
  std::string content() const {
    std::string bytes(static_cast<size_t>(lseek(fd_, 0, SEEK_END)), '\0');
    if (pread(fd_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
    return bytes;
  }

 private:
  int fd_;
};
