#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/large_memory.h"
#include "ir/ids.h"
#include "ir/pool.h"

namespace assay::ir {

// Interned strings. A copy of the table shares the text that there is.
class SymbolTable {
 public:
  SymbolTable();
  SymbolTable(const SymbolTable& other);
  SymbolTable& operator=(const SymbolTable& other) { return *this = SymbolTable(other); }
  SymbolTable(SymbolTable&&) = default;
  SymbolTable& operator=(SymbolTable&&) = default;

  Symbol intern(std::string_view text);
  Symbol find(std::string_view text) const;  // invalid if it was never interned
  std::string_view text(Symbol symbol) const { return texts_[symbol]; }
  uint32_t size() const { return texts_.size(); }

 private:
  struct Slot {
    uint32_t hash = 0;
    Symbol symbol;
  };

  size_t slot_of(std::string_view text, uint32_t hash) const;
  void grow();

  Pool<Symbol, std::string_view> texts_;
  LargeVector<Slot> slots_;  // open addressing, at most two thirds full
  std::shared_ptr<std::deque<std::string>> owned_ = std::make_shared<std::deque<std::string>>();
  std::vector<std::shared_ptr<const std::deque<std::string>>> shared_;  // text of the tables this one was copied from
};

}  // namespace assay::ir
