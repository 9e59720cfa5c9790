#include "engine/plan/plan_file.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include "base/checksum.h"
#include "base/error.h"
#include "base/parallel.h"
#include "tensor/storage_file.h"

namespace assay::engine {
namespace {

constexpr std::array<char, 8> kMagic = {'A', 'S', 'S', 'A', 'Y', 'P', 'L', 'N'};
constexpr uint32_t kVersion = 2;
constexpr uint64_t kAlignment = 64;
constexpr uint64_t kPieceBytes = uint64_t{4} << 20;  // of which a checksum is one

struct Header {
  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t zero = 0;
  uint64_t file_bytes = 0;
  uint64_t sections = 0;
  std::array<uint64_t, 3> zeros = {};
  uint64_t checksum = 0;  // of the header without it, and of the table
};
static_assert(sizeof(Header) == kAlignment);

struct Entry {
  uint32_t kind = 0;
  uint32_t zero = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t checksum = 0;
};
static_assert(sizeof(Entry) == 32);

uint64_t aligned(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

uint64_t table_checksum(Header header, Bytes table) {
  header.checksum = checksum(table);
  return checksum(std::as_bytes(std::span(&header, 1)));
}

// The checksum of a section, from the bytes in order.
class SectionChecksum {
 public:
  void add(Bytes bytes) {
    while (!bytes.empty()) {
      const Bytes some = bytes.first(std::min<uint64_t>(bytes.size(), kPieceBytes - of_piece_));
      piece_.add(some);
      of_piece_ += some.size();
      bytes = bytes.subspan(some.size());
      if (of_piece_ == kPieceBytes) end_piece();
    }
  }
  uint64_t value() {
    if (of_piece_ > 0) end_piece();
    return checksum_of_pieces(pieces_);
  }
  static uint64_t checksum_of_pieces(std::span<const uint64_t> pieces) { return checksum(std::as_bytes(pieces)); }

 private:
  void end_piece() {
    pieces_.push_back(piece_.value());
    piece_ = Checksum();
    of_piece_ = 0;
  }

  std::vector<uint64_t> pieces_;
  Checksum piece_;
  uint64_t of_piece_ = 0;  // bytes
};

[[noreturn]] void refuse(std::string_view what) { fail(ErrorCode::parse, "the plan is damaged: {}", what); }

bool is_zero(Bytes bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

Header read_header(Bytes bytes) {
  const bool is_plan = bytes.size() >= sizeof(kMagic) && std::memcmp(bytes.data(), kMagic.data(), sizeof(kMagic)) == 0;
  if (!is_plan) fail(ErrorCode::parse, "it is no plan of the engine");
  Header header;
  if (bytes.size() < sizeof(header)) refuse("it is cut");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.version != kVersion) {
    fail(ErrorCode::parse, "the plan has format {}, this program reads {}: build it again", header.version, kVersion);
  }
  if (header.file_bytes > bytes.size()) refuse("it is cut");
  if (header.file_bytes < bytes.size()) refuse("there is something behind its end");
  if (header.sections > (bytes.size() - sizeof(header)) / sizeof(Entry)) refuse("its table is cut");
  return header;
}

}  // namespace

bool PlanFile::is_plan(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, sizeof(kMagic)> begin{};
  return file.read(begin.data(), begin.size()) && begin == kMagic;
}

PlanFile::PlanFile(std::shared_ptr<const MappedFile> file, std::optional<SectionKind> only) : file_(std::move(file)) {
  const Header header = read_header(file_->bytes());
  const Bytes table = file_->bytes().subspan(sizeof(header), header.sections * sizeof(Entry));
  if (table_checksum(header, table) != header.checksum) refuse("its table is not what was written");
  read_table(header.sections);
  check(only ? sections_[static_cast<size_t>(*only)] : all_);
}

// Sections lie one after the other, so that every byte of the file is one of theirs or a zero.
void PlanFile::read_table(uint64_t count) {
  const Bytes bytes = file_->bytes();
  uint64_t end = sizeof(Header) + count * sizeof(Entry);
  for (uint64_t i = 0; i < count; ++i) {
    Entry entry;
    std::memcpy(&entry, bytes.data() + sizeof(Header) + i * sizeof(Entry), sizeof(entry));
    const bool is_known = entry.kind > 0 && entry.kind < kSectionKinds && entry.zero == 0;
    const bool is_next = entry.offset == aligned(end) && entry.offset <= bytes.size();
    if (!is_known || !is_next || entry.size > bytes.size() - entry.offset) refuse("a section is not in it");
    if (!is_zero(bytes.subspan(end, entry.offset - end))) refuse("there is something between its sections");
    end = entry.offset + entry.size;
    const bool is_weights = entry.kind == static_cast<uint32_t>(SectionKind::weights);  // kernels want packed ones
    all_.push_back({entry.offset, entry.size, entry.checksum, is_weights});
    sections_[entry.kind].push_back(all_.back());
  }
  if (end != bytes.size()) refuse("there is something behind its sections");
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
    if (SectionChecksum::checksum_of_pieces(rest.first(count)) != range.checksum)
      refuse("a section is not what was written");
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

uint64_t section_checksum(Bytes section) {
  SectionChecksum sum;
  sum.add(section);
  return sum.value();
}

uint64_t checksum_of(const tensor::Storage& storage) {
  SectionChecksum sum;
  storage.stream([&](Bytes piece) { sum.add(piece); });
  storage.release();
  return sum.value();
}

void write_plan(const std::filesystem::path& path, const std::vector<Section>& sections) {
  std::vector<Entry> table(sections.size());
  uint64_t end = sizeof(Header) + table.size() * sizeof(Entry);
  for (size_t i = 0; i < sections.size(); ++i) {
    table[i] = {.kind = static_cast<uint32_t>(sections[i].kind),
                .offset = aligned(end),
                .size = sections[i].bytes->size_bytes(),
                .checksum = sections[i].checksum ? *sections[i].checksum : checksum_of(*sections[i].bytes)};
    end = table[i].offset + table[i].size;
  }
  Header header{.file_bytes = end, .sections = table.size()};
  header.checksum = table_checksum(header, std::as_bytes(std::span(table)));
  OutputFile file(path);
  file.write(std::as_bytes(std::span(&header, 1)));
  file.write(std::as_bytes(std::span(table)));
  constexpr std::array<std::byte, kAlignment> kZeros{};
  for (size_t i = 0; i < sections.size(); ++i) {
    file.write(Bytes(kZeros).first(table[i].offset - file.position()));
    tensor::write_to(file, *sections[i].bytes);
    sections[i].bytes->release();
  }
  file.commit();
}

}  // namespace assay::engine
