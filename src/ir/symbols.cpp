#include "ir/symbols.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace assay::ir {
namespace {

uint32_t hash_of(std::string_view text) {
  const size_t hash = std::hash<std::string_view>{}(text);
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

// Appends the text to the last block, or to a new one; a block never grows out of its memory.
std::string_view store(std::string_view text, std::deque<std::string>& blocks) {
  constexpr size_t kFirstBytes = size_t{1} << 10;
  constexpr size_t kMostBytes = size_t{1} << 20;
  if (blocks.empty() || blocks.back().capacity() - blocks.back().size() < text.size()) {
    const size_t last = blocks.empty() ? 0 : blocks.back().capacity();
    blocks.emplace_back().reserve(std::max(text.size(), std::clamp(2 * last, kFirstBytes, kMostBytes)));
  }
  std::string& block = blocks.back();
  block += text;
  return std::string_view(block).substr(block.size() - text.size());
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
  texts_[symbol] = store(text, *owned_);
  slots_[at] = {hash, symbol};
  if (uint64_t{texts_.size()} * 3 > slots_.size() * 2) grow();
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
