#include "base/gzip.h"

#include <limits>

#include <zlib.h>

#include "base/error.h"

namespace assay {

std::string gzip(std::string_view text, int level) {
  z_stream stream{};
  constexpr int kGzip = 16;  // zlib's word for gzip's frame
  if (text.size() > std::numeric_limits<uInt>::max() / 2 ||
      deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    fail(ErrorCode::limit, "{} bytes cannot be packed", text.size());
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // NOLINT: zlib only reads it
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace assay
