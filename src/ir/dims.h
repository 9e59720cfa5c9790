#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/ids.h"
#include "ir/symbols.h"

namespace assay::ir {

// constant + sum of coefficient * symbol, the symbols in ascending order and no coefficient zero.
struct AffineDim {
  int64_t constant = 0;
  std::vector<std::pair<Symbol, int64_t>> terms;
  friend auto operator<=>(const AffineDim&, const AffineDim&) = default;
};

// Interned dims of a model. What is beyond affine, or overflows, becomes kUnknownDim.
class DimTable {
 public:
  DimTable();
  DimTable(const DimTable& other);
  DimTable& operator=(const DimTable& other) { return *this = DimTable(other); }
  DimTable(DimTable&&) = default;
  DimTable& operator=(DimTable&&) = default;

  DimId constant(int64_t value);
  DimId symbol(Symbol name);
  DimId add(DimId a, DimId b);
  DimId scale(DimId a, int64_t factor);

  std::optional<int64_t> as_constant(DimId dim) const;
  uint32_t size() const { return static_cast<uint32_t>(expressions_.size()); }
  const AffineDim& expression(DimId dim) const { return *expressions_[dim.index]; }
  // `4`, `batch`, `2*batch + 1`, `?`
  std::string text(DimId dim, const SymbolTable& symbols) const;

 private:
  DimId intern(AffineDim expression);

  std::map<AffineDim, DimId> ids_;
  std::vector<const AffineDim*> expressions_;  // by id; the unknown dim has an empty one
};

}  // namespace assay::ir
