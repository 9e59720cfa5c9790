#include "ir/symbols.h"

#include <functional>
#include <utility>

namespace assay::ir {
namespace {

uint32_t hash_of(std::string_view text) {
  const size_t hash = std::hash<std::string_view>{}(text);
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

}  // namespace

SymbolTable::SymbolTable() : slots_(64) { intern(""); }

SymbolTable::SymbolTable(const SymbolTable& other)
    : texts_(other.texts_), slots_(other.slots_), shared_(other.shared_) {
  shared_.push_back(other.owned_);
}

// The slot that holds the text, or the free one where it belongs.
size_t SymbolTable::slot_of(std::string_view text, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (!slot.symbol || (slot.hash == hash && texts_[slot.symbol] == text)) return at;
  }
}

Symbol SymbolTable::find(std::string_view text) const { return slots_[slot_of(text, hash_of(text))].symbol; }

Symbol SymbolTable::intern(std::string_view text) {
  const uint32_t hash = hash_of(text);
  const size_t at = slot_of(text, hash);
  if (slots_[at].symbol) return slots_[at].symbol;
  const Symbol symbol = texts_.add();
  texts_[symbol] = owned_->emplace_back(text);
  slots_[at] = {hash, symbol};
  if (texts_.size() * 3 > slots_.size() * 2) grow();
  return symbol;
}

void SymbolTable::grow() {
  const LargeVector<Slot> old = std::exchange(slots_, LargeVector<Slot>(slots_.size() * 2));
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (!slot.symbol) continue;
    size_t at = slot.hash & mask;
    while (slots_[at].symbol) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace assay::ir
