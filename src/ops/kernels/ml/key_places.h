#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>

namespace assay::ops {

// The places of keys in a list: of equal ones, the first. NaN is a key like others, unless it is said to be none.
template <typename K>
class KeyPlaces {
 public:
  KeyPlaces() = default;
  explicit KeyPlaces(std::span<const K> keys, bool finds_nan = true) {
    places_.reserve(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!is_nan(keys[i]))
        places_.emplace(keys[i], i);
      else if (finds_nan && !of_nan_)
        of_nan_ = i;
    }
  }

  std::optional<size_t> find(const K& key) const {
    if (is_nan(key)) return of_nan_;
    const auto found = places_.find(key);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  static bool is_nan(const K& key) {
    if constexpr (std::is_floating_point_v<K>) return std::isnan(key);
    return false;
  }

  std::unordered_map<K, size_t> places_;
  std::optional<size_t> of_nan_;
};

}  // namespace assay::ops
