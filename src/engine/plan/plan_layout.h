#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/checksum.h"
#include "base/files.h"

namespace assay::engine {

// The layout of a plan in its file: a header, the sections, their table, a trailer.
inline constexpr std::array<char, 8> kPlanMagic = {'A', 'S', 'S', 'A', 'Y', 'P', 'L', 'N'};
inline constexpr uint32_t kPlanVersion = 7;
inline constexpr uint64_t kSectionAlignment = 64;           // the table is aligned too
inline constexpr uint64_t kPieceBytes = uint64_t{4} << 20;  // of a section, of which a checksum is one

struct PlanHeader {
  std::array<char, 8> magic = kPlanMagic;
  uint32_t version = kPlanVersion;
  uint32_t zero = 0;
  std::array<uint64_t, 6> zeros = {};
};
static_assert(sizeof(PlanHeader) == kSectionAlignment);

struct SectionEntry {
  uint32_t kind = 0;
  uint32_t zero = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t checksum = 0;
};
static_assert(sizeof(SectionEntry) == 32);

struct PlanTrailer {
  uint64_t file_bytes = 0;
  uint64_t sections = 0;
  uint64_t zero = 0;
  uint64_t checksum = 0;  // of the header, the table and the trailer without it
};
static_assert(sizeof(PlanTrailer) == 32);

inline uint64_t aligned_section(uint64_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

inline uint64_t table_checksum(Bytes header, Bytes table, PlanTrailer trailer) {
  trailer.checksum = 0;
  Checksum sum;
  for (const Bytes part : {header, table, std::as_bytes(std::span(&trailer, 1))}) sum.add(part);
  return sum.value();
}

// The checksum of a section, which is that of those of its pieces, from the bytes in order. All threads compute it.
class SectionChecksum {
 public:
  void add(Bytes bytes);
  uint64_t value();
  static uint64_t of_pieces(std::span<const uint64_t> pieces) { return checksum(std::as_bytes(pieces)); }

 private:
  Bytes add_whole_pieces(Bytes bytes);
  void end_piece();

  std::vector<uint64_t> pieces_;
  Checksum piece_;
  uint64_t of_piece_ = 0;  // bytes
};

uint64_t section_checksum(Bytes section);

}  // namespace assay::engine
