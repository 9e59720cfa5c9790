#include "formats/numpy/inflate.h"

#include <algorithm>

#include <zlib.h>

#include "base/error.h"
#include "base/parallel.h"

namespace assay::formats {
namespace {

constexpr uint64_t kMostChunk = 1 << 30;  // zlib counts in 32 bits
constexpr uint64_t kCrcPiece = 1 << 20;

class Inflater {
 public:
  Inflater(Bytes packed, std::span<std::byte> out) : packed_(packed), out_(out) {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) fail(ErrorCode::limit, "no memory to inflate");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Fills the output as far as the data goes; returns whether the data ended there.
  bool run() {
    int status = Z_OK;
    while (status == Z_OK) {
      refill();
      status = inflate(&stream_, Z_NO_FLUSH);
    }
    // Without progress for want of room or of data there is nothing more to do.
    if (status != Z_STREAM_END && status != Z_BUF_ERROR) fail(ErrorCode::parse, "its deflated data is damaged");
    return status == Z_STREAM_END;
  }
  uint64_t missing() const { return out_.size() + stream_.avail_out; }
  bool has_rest() const { return !packed_.empty() || stream_.avail_in != 0; }

 private:
  void refill() {
    if (stream_.avail_in == 0) {
      const uint64_t count = std::min<uint64_t>(packed_.size(), kMostChunk);
      stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed_.data()));
      stream_.avail_in = static_cast<uInt>(count);
      packed_ = packed_.subspan(count);
    }
    if (stream_.avail_out == 0) {
      const uint64_t count = std::min<uint64_t>(out_.size(), kMostChunk);
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(count);
      out_ = out_.subspan(count);
    }
  }

  Bytes packed_;
  std::span<std::byte> out_;
  z_stream stream_ = {};
};

}  // namespace

void inflate_all(Bytes packed, uint32_t crc, std::span<std::byte> out) {
  Inflater inflater(packed, out);
  const bool ended = inflater.run();
  if (!ended || inflater.missing() != 0 || inflater.has_rest()) {
    fail(ErrorCode::parse, "its deflated data does not give {} bytes", out.size());
  }
  if (crc32_of(out) != crc) fail(ErrorCode::parse, "its CRC does not match; the file is damaged");
}

void inflate_start(Bytes packed, std::span<std::byte> out) {
  Inflater inflater(packed, out);
  inflater.run();
  if (inflater.missing() != 0) fail(ErrorCode::parse, "its deflated data ends within the header");
}

uint32_t crc32_of(Bytes bytes, uint32_t start) {
  struct Part {
    uLong crc;
    uint64_t size;
  };
  const auto piece = [&](uint64_t begin, uint64_t end) {
    return Part{crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()) + begin, end - begin), end - begin};
  };
  const auto join = [](const Part& a, const Part& b) {
    return Part{crc32_combine(a.crc, b.crc, static_cast<z_off_t>(b.size)), a.size + b.size};
  };
  return static_cast<uint32_t>(parallel_reduce(bytes.size(), kCrcPiece, Part{start, 0}, piece, join).crc);
}

}  // namespace assay::formats
