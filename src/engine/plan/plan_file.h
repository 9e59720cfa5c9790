#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/files.h"
#include "tensor/storage.h"

namespace assay::engine {

// The kinds of sections in a plan. The numbers stand in files.
enum class SectionKind : uint32_t {
  manifest = 1,  // one: what the plan is, and what the others are for
  model = 2,     // ONNX, without the elements of its initializers
  weights = 3,   // the elements of one tensor
  packed = 4,    // weights in a form that a kernel wants
  code = 5,      // compiled for a device
};
inline constexpr size_t kSectionKinds = 6;

// The file of a plan, mapped: the sections, each aligned for kernels, and their table.
class PlanFile {
 public:
  // True if the file begins as a plan does; false for what cannot be read.
  static bool is_plan(const std::filesystem::path& path);
  // Checks every byte, or those of sections of one kind alone; no others may be read then. Error (parse) for a file
  // that is no plan, is damaged, or is of another version.
  explicit PlanFile(std::shared_ptr<const MappedFile> file, std::optional<SectionKind> only = {});

  size_t count(SectionKind kind) const { return sections_[static_cast<size_t>(kind)].size(); }
  // The section of this number among those of its kind. Error (parse) if there is none.
  Bytes section(SectionKind kind, uint64_t number) const;
  tensor::StoragePtr storage(SectionKind kind, uint64_t number) const;
  // The bytes of the section, which live as long as the file is mapped.
  std::shared_ptr<const std::byte> shared(SectionKind kind, uint64_t number) const;
  const std::filesystem::path& path() const { return file_->path(); }

 private:
  struct Range {
    uint64_t offset = 0;
    uint64_t size = 0;
    uint64_t checksum = 0;
    bool is_rarely_read = false;  // pages are given back when they have been checked
  };
  void read_table(uint64_t count, uint64_t table);
  void check(const std::vector<Range>& ranges) const;
  const Range& range(SectionKind kind, uint64_t number) const;

  std::shared_ptr<const MappedFile> file_;
  std::vector<Range> all_;
  std::array<std::vector<Range>, kSectionKinds> sections_;
};

}  // namespace assay::engine
