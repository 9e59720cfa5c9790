#pragma once

#include <array>
#include <filesystem>
#include <future>
#include <optional>
#include <vector>

#include "engine/plan/plan_file.h"
#include "engine/plan/plan_layout.h"

namespace assay::engine {

// Writes a plan section by section, each while the next one is made; it appears under its name when it is finished.
class PlanWriter {
 public:
  explicit PlanWriter(const std::filesystem::path& path);

  // The number of the section among those of its kind. The bytes must stay until the next one is added. `checksum` is
  // theirs, where it is known already.
  uint64_t add(SectionKind kind, Bytes bytes, std::optional<uint64_t> checksum = std::nullopt);
  // Adds a storage, which is released.
  uint64_t add(SectionKind kind, tensor::StoragePtr storage, std::optional<uint64_t> checksum = std::nullopt);
  // Until the bytes that were added are needed no more.
  void wait();
  void finish();

 private:
  SectionEntry& begin(SectionKind kind, uint64_t size);
  void align();
  template <typename Fn>
  void write_meanwhile(uint64_t size, Fn&& write);

  OutputFile file_;
  std::future<void> pending_;  // the write under way
  PlanHeader header_;
  std::vector<SectionEntry> table_;
  std::array<uint64_t, kSectionKinds> counts_ = {};
};

// The checksum of all that a storage has, which then releases its memory.
uint64_t checksum_of(const tensor::Storage& storage);

}  // namespace assay::engine
