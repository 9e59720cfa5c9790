#include "base/gzip.h"

#include <algorithm>
#include <array>
#include <vector>

#include <zlib.h>

#include "base/error.h"
#include "base/parallel.h"

namespace assay {
namespace {

constexpr size_t kBlock = 1U << 19U;
constexpr size_t kMostWaiting = 16 * kBlock;
constexpr size_t kWindow = 1U << 15U;  // bytes before a block that it may repeat
constexpr std::string_view kHead("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);

Bytef* bytes_of(std::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // NOLINT: zlib only reads it
}

// One block behind `before`; those that are not the last one end at a whole byte.
std::string pack_block(std::string_view before, std::string_view block, int level, bool is_end) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    fail(ErrorCode::limit, "{} bytes cannot be packed", block.size());
  }
  deflateSetDictionary(&stream, bytes_of(before), static_cast<uInt>(before.size()));
  std::string packed(deflateBound(&stream, block.size()) + 16, '\0');
  stream.next_in = bytes_of(block);
  stream.avail_in = static_cast<uInt>(block.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, is_end ? Z_FINISH : Z_SYNC_FLUSH);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

void append_number(std::string& text, uint32_t number) {
  for (int i = 0; i < 4; ++i) text += static_cast<char>((number >> (8 * i)) & 0xffU);
}

}  // namespace

GzipWriter::GzipWriter(int level) : level_(level), packed_(kHead) {}

void GzipWriter::add(std::string_view text) {
  while (!text.empty()) {
    if (waiting_.size() - before_ == kMostWaiting) pack_waiting(false);
    const size_t count = std::min(text.size(), kMostWaiting - (waiting_.size() - before_));
    waiting_ += text.substr(0, count);
    text.remove_prefix(count);
  }
}

void GzipWriter::pack_waiting(bool is_end) {
  const std::string_view all = waiting_;
  const size_t count = std::max<size_t>((all.size() - before_ + kBlock - 1) / kBlock, is_end ? 1 : 0);
  std::vector<std::string> packed(count);
  std::vector<uint32_t> checksums(count);
  const auto block = [&](size_t i) { return all.substr(before_ + i * kBlock, kBlock); };
  parallel_for(count, 1, [&](uint64_t i, uint64_t) {
    const size_t begin = before_ + i * kBlock;
    const size_t window = std::min(begin, kWindow);
    packed[i] = pack_block(all.substr(begin - window, window), block(i), level_, is_end && i + 1 == count);
    checksums[i] = static_cast<uint32_t>(crc32_z(0, bytes_of(block(i)), block(i).size()));
  });
  for (size_t i = 0; i < count; ++i) {
    packed_ += packed[i];
    checksum_ = static_cast<uint32_t>(crc32_combine(checksum_, checksums[i], static_cast<z_off_t>(block(i).size())));
    size_ += block(i).size();
  }
  before_ = std::min(waiting_.size(), kWindow);
  waiting_.erase(0, waiting_.size() - before_);
}

std::string GzipWriter::finish() {
  pack_waiting(true);
  append_number(packed_, checksum_);
  append_number(packed_, static_cast<uint32_t>(size_));
  return std::move(packed_);
}

std::string gzip(std::string_view text, int level) {
  GzipWriter writer(level);
  writer.add(text);
  return writer.finish();
}

}  // namespace assay
