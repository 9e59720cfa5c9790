#pragma once

#include <string>
#include <vector>

#include "ops/kernels/text/regex.h"

namespace assay::ops {

// Reads the code points of a pattern.
class RegexCursor {
 public:
  explicit RegexCursor(std::vector<char32_t> pattern) : pattern_(std::move(pattern)) {}

  bool at_end() const { return at_ >= pattern_.size(); }
  char32_t peek(size_t ahead = 0) const { return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : 0; }
  bool has(size_t ahead) const { return at_ + ahead < pattern_.size(); }
  char32_t take();
  bool take_if(char32_t point);
  bool take_if(std::string_view word);
  size_t place() const { return at_; }
  void go_to(size_t place) { at_ = place; }
  [[noreturn]] void fail_here(std::string_view what) const;

 private:
  std::vector<char32_t> pattern_;
  size_t at_ = 0;
};

using RegexRanges = std::vector<Regex::Range>;

RegexRanges complement(RegexRanges ranges);
// Behind a backslash: the code points of a class as `d` or `W`; empty if there is none.
RegexRanges take_perl_class(RegexCursor& cursor);
// Behind a backslash: a single code point.
char32_t take_escape(RegexCursor& cursor);
// Behind `[`, to its `]`.
Regex::Set take_bracket_class(RegexCursor& cursor);

}  // namespace assay::ops
