#pragma once

#include <cstdint>
#include <span>

namespace assay::convert {

// The rule by which numbers become small integers, and come back as (code - zero_point) * scale.
struct Coding {
  float scale = 1;  // may be below 0
  int16_t zero_point = 0;
  int16_t lowest = 0;
  int16_t highest = 0;

  int16_t code(float number) const;
};

// Freedoms of a search.
struct CodingChoice {
  bool is_asymmetric = false;  // from the lowest to the highest number, with 0 among them, instead of around 0
  bool may_clip = true;        // numbers beyond the codes; otherwise the range is that of the numbers
  bool may_turn = false;       // a scale below 0
  bool rounds_scales = false;  // to float16, where it holds them
};

// The coding with the least square error that the search found, of all that the choice admits; never greater than that
// of the range of the numbers. `lowest` and `highest` are those of the codes.
Coding best_coding(std::span<const float> numbers, int16_t lowest, int16_t highest, const CodingChoice& choice);

}  // namespace assay::convert
