#include "engine/plan/plan_layout.h"

#include <algorithm>

#include "base/parallel.h"

namespace assay::engine {

// Adds whole pieces. Returns the bytes that are left.
Bytes SectionChecksum::add_whole_pieces(Bytes bytes) {
  const size_t known = pieces_.size();
  const uint64_t count = bytes.size() / kPieceBytes;
  pieces_.resize(known + count);
  parallel_for(count, 1, [&](uint64_t piece, uint64_t) {
    pieces_[known + piece] = checksum(bytes.subspan(piece * kPieceBytes, kPieceBytes));
  });
  return bytes.subspan(count * kPieceBytes);
}

void SectionChecksum::add(Bytes bytes) {
  if (of_piece_ == 0) bytes = add_whole_pieces(bytes);
  while (!bytes.empty()) {
    const Bytes some = bytes.first(std::min<uint64_t>(bytes.size(), kPieceBytes - of_piece_));
    piece_.add(some);
    of_piece_ += some.size();
    bytes = bytes.subspan(some.size());
    if (of_piece_ == kPieceBytes) end_piece();
  }
}

uint64_t SectionChecksum::value() {
  if (of_piece_ > 0) end_piece();
  return of_pieces(pieces_);
}

void SectionChecksum::end_piece() {
  pieces_.push_back(piece_.value());
  piece_ = Checksum();
  of_piece_ = 0;
}

uint64_t section_checksum(Bytes section) {
  SectionChecksum sum;
  sum.add(section);
  return sum.value();
}

}  // namespace assay::engine
