#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

using Bytes = std::span<const std::byte>;

// The bytes of a file, mapped read-only: nothing is read until it is touched. If the file shrinks while it is mapped,
// a program that called install_signal_handlers() ends with one line and status 2.
class MappedFile {
 public:
  // Error (io) if it is missing, a folder, not readable.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);
  // Reads the whole stream into memory (for `-`); `label` stands for the path.
  static std::shared_ptr<const MappedFile> read_stream(int fd, std::string label);
  static std::shared_ptr<const MappedFile> from_bytes(Bytes bytes, std::string label);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  Bytes bytes() const { return {data_, size_}; }
  uint64_t size() const { return size_; }
  const std::filesystem::path& path() const { return path_; }
  int fd() const { return fd_; }  // -1 where there is no file behind it
  // Gives the pages of a range back to the system; they return when they are touched.
  void release(uint64_t offset, uint64_t size) const;

 private:
  MappedFile(std::filesystem::path path, int fd, const std::byte* data, uint64_t size);
  std::filesystem::path path_;
  int fd_;
  const std::byte* data_;
  uint64_t size_;
};

// A file that appears under its name only when it is complete: written beside its place, then renamed by commit().
// Without commit() nothing is left behind, also when a signal ends the program. Devices and pipes are written directly.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(Bytes bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  // Copies a range of a mapped file, inside the kernel where it can.
  void copy_from(const MappedFile& file, uint64_t offset, uint64_t size);
  uint64_t position() const { return position_; }
  // Error (io) if anything could not be written, here or in the calls before. Nothing may follow it.
  void commit();

 private:
  void open_temporary();
  void open_directly();
  void write_out(Bytes bytes);
  void flush();
  [[noreturn]] void fail_to_write(int error) const;
  std::filesystem::path path_;       // the name the user gave
  std::filesystem::path target_;     // the file behind it where it is a link
  std::filesystem::path temporary_;  // empty where written directly
  std::vector<std::byte> buffer_;    // small pieces, not yet written
  int fd_ = -1;
  int slot_ = -1;
  uint64_t position_ = 0;
};

// SIGINT and SIGTERM remove unfinished output files and end with 130 or 143; a mapped file that shrank ends with 2;
// SIGPIPE is ignored, so that writes to a closed pipe fail with EPIPE.
void install_signal_handlers();

}  // namespace assay
