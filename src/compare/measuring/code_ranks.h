#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compare/measuring/tile_kernels.h"

namespace assay::compare {

// A number as float32, which keeps the order; only 0 becomes 0, other equal codes may stand for different numbers.
inline float code_of(double x) {
  const auto code = static_cast<float>(x);
  return code == 0 && x != 0 ? std::copysign(std::numeric_limits<float>::denorm_min(), static_cast<float>(x)) : code;
}

// The next code that is less; for the least code NaN, which compares false with everything.
inline float code_before(float code) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return code == -kInfinity ? std::numeric_limits<float>::quiet_NaN() : std::nextafter(code, -kInfinity);
}

// The location of a place in the sorted order.
struct CodePlace {
  bool is_kept = false;
  float code = 0;      // if it was not kept
  uint64_t index = 0;  // of the kept codes in order, or of the elements of that code
};

// Ranges expected to contain certain places of the sorted order. Codes inside are kept; in a range of a single code
// they are only counted.
class CodeSieve {
 public:
  CodeSieve() = default;
  // For places of the sorted order of `count` codes, the places ascending; `sample` is without NaN and not empty.
  // `alike`: so many elements of the sample were taken from one spot, where they may be alike.
  CodeSieve(const std::vector<float>& sample, size_t alike, uint64_t count, std::span<const uint64_t> places);

  const CodeRanges& ranges() const { return ranges_; }
  // Locates a place from the counts of the ranges, unless it is in none.
  std::optional<CodePlace> find(uint64_t place, std::span<const CodeCount> counts) const;

 private:
  void add(float low, float high);
  void add(float low, float high, std::pair<bool, bool> ends_are_common);

  CodeRanges ranges_;  // of both kinds ascending
};

using CodeLists = std::vector<std::span<const float>>;

// The codes at ascending places of the sorted order of all lists; no NaN among them.
std::vector<float> codes_at(const CodeLists& lists, std::span<const uint64_t> places);

// Adds any number of codes to the counts and the kept codes.
void sift(std::span<const float> codes, const CodeRanges& ranges, std::span<CodeCount> counts,
          std::vector<float>& kept);

}  // namespace assay::compare
