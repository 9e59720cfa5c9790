#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <utility>

namespace assay {

// The last few things that were asked for, by key; those longest unused are dropped.
template <typename Key, typename T>
class Recent {
 public:
  explicit Recent(size_t most) : most_(most) {}

  // The last item that was asked for; null: nothing yet.
  T* last() { return items_.empty() ? nullptr : &items_.front().second; }
  const T* last() const { return items_.empty() ? nullptr : &items_.front().second; }
  // Null: there is none. It stays until others have been added.
  T* find(const Key& key) {
    const auto found = std::ranges::find(items_, key, &Item::first);
    if (found == items_.end()) return nullptr;
    items_.splice(items_.begin(), items_, found);
    return &items_.front().second;
  }

  T& add(Key key, T thing) {
    items_.emplace_front(std::move(key), std::move(thing));
    if (items_.size() > most_) items_.pop_back();
    return items_.front().second;
  }

 private:
  using Item = std::pair<Key, T>;
  size_t most_;
  std::list<Item> items_;
};

}  // namespace assay
