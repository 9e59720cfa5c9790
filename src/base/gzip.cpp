#include "base/gzip.h"

#include <limits>
#include <vector>

#include <zlib.h>

#include "base/error.h"

namespace assay {
namespace {

constexpr size_t kPiece = 1U << 18U;

}  // namespace

std::string gzip(std::string_view text, int level) {
  z_stream stream{};
  constexpr int kGzip = 16;  // zlib's word for gzip's frame
  if (text.size() > std::numeric_limits<uInt>::max() / 2 ||
      deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    fail(ErrorCode::limit, "{} bytes cannot be packed", text.size());
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // NOLINT: zlib only reads it
  stream.avail_in = static_cast<uInt>(text.size());
  std::string packed;
  std::vector<Bytef> piece(kPiece);
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(piece.size());
    state = deflate(&stream, Z_FINISH);
    packed.append(reinterpret_cast<const char*>(piece.data()), piece.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return packed;
}

}  // namespace assay
