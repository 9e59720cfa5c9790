#pragma once

#include <cstdint>
#include <functional>
#include <limits>

namespace assay {

// A 32-bit handle of its own type: ids of different kinds do not mix. The default one is invalid.
template <typename Tag>
struct Id {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  uint32_t index = kNone;

  constexpr bool valid() const { return index != kNone; }
  constexpr explicit operator bool() const { return valid(); }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace assay

template <typename Tag>
struct std::hash<assay::Id<Tag>> {
  size_t operator()(assay::Id<Tag> id) const noexcept { return id.index; }
};
