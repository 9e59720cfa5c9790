#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::ops {

// A regular expression in RE2's syntax. Matching takes time in proportion to the length of the text times the size of
// the expression, and no recursion. Error (unsupported) for what RE2 has beyond this, Unicode classes (\pL) above all,
// and Error (shape) for what is no expression.
class Regex {
 public:
  explicit Regex(std::string_view pattern);

  bool matches_whole(std::string_view text) const;

  struct Range {
    char32_t first;
    char32_t last;
  };
  struct Set {
    std::vector<Range> ranges;
    bool is_negated = false;
    bool folds_case = false;

    bool holds(char32_t point) const;
  };
  enum class Place : uint8_t { text_begin, text_end, line_begin, line_end, word_edge, no_word_edge };
  enum class Step : uint8_t { take, split, check, accept };
  struct Instruction {
    Step step = Step::accept;
    Place place = Place::text_begin;  // of check
    uint32_t set = 0;                 // of take
    uint32_t next = 0;
    uint32_t other = 0;  // of split
  };

 private:
  std::vector<Instruction> program_;
  std::vector<Set> sets_;
};

}  // namespace assay::ops
