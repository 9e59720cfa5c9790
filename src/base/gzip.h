#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

// Packs text that comes in pieces, blocks of it beside each other; the bytes depend on the text alone.
class GzipWriter {
 public:
  // `level` 1 is fast, 9 is small.
  explicit GzipWriter(int level);
  void add(std::string_view text);
  // Gives what was added as one gzip file. Call once.
  std::string finish();

 private:
  void pack_waiting(bool is_end);

  int level_;
  std::string waiting_;  // text that is not packed yet, behind the last bytes that are
  size_t before_ = 0;    // the number of these
  std::string packed_;
  uint32_t checksum_ = 0;
  uint64_t size_ = 0;
};

// The text as gzip packs it.
std::string gzip(std::string_view text, int level);

}  // namespace assay
