#include "engine/plan/plan_writer.h"

#include <algorithm>
#include <utility>

#include "tensor/derived.h"
#include "tensor/storage_file.h"

namespace assay::engine {

PlanWriter::PlanWriter(const std::filesystem::path& path) : file_(path) {
  file_.write(std::as_bytes(std::span(&header_, 1)));
}

void PlanWriter::align() {
  constexpr std::array<std::byte, kSectionAlignment> kZeros{};
  file_.write(Bytes(kZeros).first(aligned_section(file_.position()) - file_.position()));
}

// Writes in a thread; if there is none to be had, when it is waited for.
template <typename Fn>
void PlanWriter::write_meanwhile(uint64_t size, Fn&& write) {
  constexpr uint64_t kLargeBytes = 1 << 16;
  if (size < kLargeBytes) return write();
  pending_ = std::async(std::launch::async | std::launch::deferred, std::forward<Fn>(write));
}

void PlanWriter::wait() {
  if (pending_.valid()) pending_.get();
}

SectionEntry& PlanWriter::begin(SectionKind kind, uint64_t size) {
  wait();
  align();
  const auto number = static_cast<uint32_t>(kind);
  ++counts_[number];
  return table_.emplace_back(SectionEntry{.kind = number, .offset = file_.position(), .size = size});
}

uint64_t PlanWriter::add(SectionKind kind, Bytes bytes, std::optional<uint64_t> checksum) {
  SectionEntry& entry = begin(kind, bytes.size());
  write_meanwhile(bytes.size(), [this, bytes] { file_.write(bytes); });
  entry.checksum = checksum ? *checksum : section_checksum(bytes);
  return counts_[entry.kind] - 1;
}

uint64_t PlanWriter::add(SectionKind kind, tensor::StoragePtr storage, std::optional<uint64_t> checksum) {
  const uint64_t size = storage->size_bytes();
  SectionEntry& entry = begin(kind, size);
  entry.checksum = checksum ? *checksum : checksum_of(*storage);
  write_meanwhile(size, [this, storage = std::move(storage)] {
    tensor::write_to(file_, *storage);
    tensor::let_go_of(*storage);
  });
  return counts_[entry.kind] - 1;
}

void PlanWriter::finish() {
  wait();
  align();
  const Bytes table = std::as_bytes(std::span(table_));
  PlanTrailer trailer{.file_bytes = file_.position() + table.size() + sizeof(trailer), .sections = table_.size()};
  trailer.checksum = table_checksum(std::as_bytes(std::span(&header_, 1)), table, trailer);
  file_.write(table);
  file_.write(std::as_bytes(std::span(&trailer, 1)));
  file_.commit();
}

// The checksum of a storage; of a mapped one, little is in memory at a time.
uint64_t checksum_of(const tensor::Storage& storage) {
  constexpr uint64_t kStep = 4 * kPieceBytes;
  SectionChecksum sum;
  storage.stream([&](Bytes bytes) {
    for (uint64_t done = 0; done < bytes.size(); done += kStep) {
      sum.add(bytes.subspan(done, std::min(kStep, bytes.size() - done)));
      storage.release();
    }
  });
  return sum.value();
}

}  // namespace assay::engine
