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
  // The table of a chain's steps behind the one of this number, which makes codes; nullopt: they read more than these
  // and single numbers, or make no codes, or no tape computes them.
  static std::optional<CodeTable> make(const Layer& layer, const Chain& chain, size_t codes);

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
