#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ids.h"
#include "ir/pool.h"

namespace assay::ir {

// Interned strings. Borrowed text must outlive the table (names in a mapped file that the model keeps alive).
class SymbolTable {
 public:
  SymbolTable();

  Symbol intern(std::string_view text) { return insert(text, true); }
  Symbol intern_borrowed(std::string_view text) { return insert(text, false); }
  Symbol find(std::string_view text) const;  // invalid if it was never interned
  std::string_view text(Symbol symbol) const { return texts_[symbol]; }
  uint32_t size() const { return texts_.size(); }

 private:
  struct Slot {
    uint32_t hash = 0;
    Symbol symbol;
  };

  Symbol insert(std::string_view text, bool copy);
  size_t slot_of(std::string_view text, uint32_t hash) const;
  void grow();

  Pool<Symbol, std::string_view> texts_;
  std::vector<Slot> slots_;  // open addressing, at most two thirds full
  std::deque<std::string> owned_;
};

}  // namespace assay::ir
