#include "engine/plan/plan_file.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/parallel.h"
#include "engine/plan/plan_layout.h"

namespace assay::engine {
namespace {

[[noreturn]] void refuse(std::string_view what) { fail(ErrorCode::parse, "the plan is damaged: {}", what); }

bool is_zero(Bytes bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

void check_header(Bytes bytes) {
  const bool is_plan =
      bytes.size() >= kPlanMagic.size() && std::memcmp(bytes.data(), kPlanMagic.data(), kPlanMagic.size()) == 0;
  if (!is_plan) {
    const std::optional<std::string> kind = describe_file_kind(bytes);
    fail(ErrorCode::parse, "{}", kind ? *kind + "; expected a plan of the engine" : "it is no plan of the engine");
  }
  PlanHeader header;
  if (bytes.size() < sizeof(header) + sizeof(PlanTrailer)) refuse("it is cut");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.version != kPlanVersion) {
    fail(ErrorCode::parse, "the plan has format {}, this program reads {}: build it again", header.version,
         kPlanVersion);
  }
}

PlanTrailer read_trailer(Bytes bytes) {
  PlanTrailer trailer;
  std::memcpy(&trailer, bytes.last(sizeof(trailer)).data(), sizeof(trailer));
  if (trailer.file_bytes != bytes.size()) refuse("it is cut, or there is something behind its end");
  if (trailer.sections > (bytes.size() - sizeof(PlanHeader) - sizeof(trailer)) / sizeof(SectionEntry)) {
    refuse("its table is cut");
  }
  return trailer;
}

}  // namespace

bool PlanFile::is_plan(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, kPlanMagic.size()> begin{};
  return file.read(begin.data(), begin.size()) && begin == kPlanMagic;
}

PlanFile::PlanFile(std::shared_ptr<const MappedFile> file, std::optional<SectionKind> only) : file_(std::move(file)) {
  const Bytes bytes = file_->bytes();
  check_header(bytes);
  const PlanTrailer trailer = read_trailer(bytes);
  const uint64_t table_bytes = trailer.sections * sizeof(SectionEntry);
  const uint64_t table = bytes.size() - sizeof(trailer) - table_bytes;
  const uint64_t sum = table_checksum(bytes.first(sizeof(PlanHeader)), bytes.subspan(table, table_bytes), trailer);
  if (sum != trailer.checksum) refuse("its table is not what was written");
  read_table(trailer.sections, table);
  check(only ? sections_[static_cast<size_t>(*only)] : all_);
}

// Sections lie one after the other, so that every byte of the file is one of theirs or a zero.
void PlanFile::read_table(uint64_t count, uint64_t table) {
  const Bytes bytes = file_->bytes().first(table);
  uint64_t end = sizeof(PlanHeader);
  for (uint64_t i = 0; i < count; ++i) {
    SectionEntry entry;
    std::memcpy(&entry, file_->bytes().data() + table + i * sizeof(entry), sizeof(entry));
    const bool is_known = entry.kind > 0 && entry.kind < kSectionKinds && entry.zero == 0;
    const bool is_next = entry.offset == aligned_section(end) && entry.offset <= bytes.size();
    if (!is_known || !is_next || entry.size > bytes.size() - entry.offset) refuse("a section is not in it");
    if (!is_zero(bytes.subspan(end, entry.offset - end))) refuse("there is something between its sections");
    end = entry.offset + entry.size;
    const bool is_weights = entry.kind == static_cast<uint32_t>(SectionKind::weights);  // kernels want packed ones
    all_.push_back({entry.offset, entry.size, entry.checksum, is_weights});
    sections_[entry.kind].push_back(all_.back());
  }
  if (aligned_section(end) != table || !is_zero(bytes.subspan(end))) refuse("there is something behind its sections");
}

void PlanFile::check(const std::vector<Range>& ranges) const {
  struct Piece {
    uint64_t offset = 0;
    uint64_t size = 0;
    bool is_rarely_read = false;
  };
  std::vector<Piece> pieces;
  for (const Range& range : ranges) {
    for (uint64_t at = 0; at < range.size; at += kPieceBytes) {
      pieces.push_back({range.offset + at, std::min(kPieceBytes, range.size - at), range.is_rarely_read});
    }
  }
  std::vector<uint64_t> sums(pieces.size());
  parallel_for(pieces.size(), 1, [&](uint64_t i, uint64_t) {
    const Piece& piece = pieces[i];
    sums[i] = checksum(file_->bytes().subspan(piece.offset, piece.size));
    if (piece.is_rarely_read) file_->release(piece.offset, piece.size);
  });
  std::span<const uint64_t> rest = sums;
  for (const Range& range : ranges) {
    const uint64_t count = (range.size + kPieceBytes - 1) / kPieceBytes;
    if (SectionChecksum::of_pieces(rest.first(count)) != range.checksum) refuse("a section is not what was written");
    rest = rest.subspan(count);
  }
}

const PlanFile::Range& PlanFile::range(SectionKind kind, uint64_t number) const {
  const std::vector<Range>& ranges = sections_[static_cast<size_t>(kind)];
  if (number >= ranges.size()) refuse("a section is missing");
  return ranges[number];
}

Bytes PlanFile::section(SectionKind kind, uint64_t number) const {
  const Range& found = range(kind, number);
  return file_->bytes().subspan(found.offset, found.size);
}

tensor::StoragePtr PlanFile::storage(SectionKind kind, uint64_t number) const {
  const Range& found = range(kind, number);
  return tensor::make_mapped(file_, found.offset, found.size);
}

std::shared_ptr<const std::byte> PlanFile::shared(SectionKind kind, uint64_t number) const {
  return {file_, section(kind, number).data()};
}

}  // namespace assay::engine
