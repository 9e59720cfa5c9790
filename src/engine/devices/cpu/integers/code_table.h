#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "engine/layers/chain.h"

namespace assay::engine::cpu {

// Codes of 8 bits for each code of 8 bits: a function of one number that begins and ends with codes, however long it
// is.
class CodeTable {
 public:
  // The table of a chain's steps from `first` on, which read only single numbers and a register of codes of this type;
  // nullopt: they read more, or make no codes, or no tape computes them.
  static std::optional<CodeTable> make(const Layer& layer, const Chain& chain, size_t first, int codes,
                                       tensor::DType type);

  // The codes for neighbouring codes; both may be the same.
  void map(const std::byte* from, std::byte* to, size_t count) const;

 private:
  static constexpr size_t kCodes = 256;
  alignas(64) std::array<std::byte, kCodes> table_;
};

// The loops of CodeTable::map(), for tests.
struct TableKernels {
  const char* name;
  void (*map)(const std::byte* table, const std::byte* from, std::byte* to, size_t count);
};
std::span<const TableKernels* const> all_table_kernels();

}  // namespace assay::engine::cpu
