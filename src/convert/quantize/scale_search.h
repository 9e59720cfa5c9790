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

// Means and variances of what numbers are multiplied with before they are summed up; empty: 0, and all the same.
struct Factors {
  std::span<const float> means;
  std::span<const float> variances;

  Factors part(size_t begin, size_t count) const {
    const auto part_of = [=](std::span<const float> all) { return all.empty() ? all : all.subspan(begin, count); };
    return {part_of(means), part_of(variances)};
  }
  float mean(size_t i) const { return means.empty() ? 0 : means[i]; }
  float variance(size_t i) const { return variances.empty() ? 1 : variances[i]; }
};

// Freedoms of a search.
struct CodingChoice {
  bool is_asymmetric = false;  // from the lowest to the highest number, with 0 among them, instead of around 0
  bool may_clip = true;        // numbers beyond the codes; otherwise the range is that of the numbers
  bool may_turn = false;       // a scale below 0
  bool rounds_scales = false;  // to float16, where it holds them
};

// The coding with the least square error that the search found, of all that the choice admits; never greater than that
// of the range of the numbers. `lowest` and `highest` are those of the codes. The error is that of the sum of the
// products with such factors.
Coding best_coding(std::span<const float> numbers, int16_t lowest, int16_t highest, const CodingChoice& choice,
                   const Factors& factors = {});

}  // namespace assay::convert
