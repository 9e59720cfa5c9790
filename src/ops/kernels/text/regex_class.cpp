#include "ops/kernels/text/regex_class.h"

#include <algorithm>

#include "base/error.h"
#include "ops/kernels/text/code_points.h"

namespace assay::ops {
namespace {

struct NamedClass {
  std::string_view name;
  std::string_view pairs;  // first and last code points in turn
};

constexpr NamedClass kPosixClasses[] = {
    {"alnum", "09AZaz"},
    {"alpha", "AZaz"},
    {"ascii", std::string_view("\0\x7f", 2)},
    {"blank", "\t\t  "},
    {"cntrl", std::string_view("\0\x1f\x7f\x7f", 4)},
    {"digit", "09"},
    {"graph", "!~"},
    {"lower", "az"},
    {"print", " ~"},
    {"punct", "!/:@[`{~"},
    {"space", "\t\r  "},
    {"upper", "AZ"},
    {"word", "09AZ__az"},
    {"xdigit", "09AFaf"},
};

RegexRanges ranges_of(std::string_view pairs) {
  RegexRanges ranges;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    ranges.push_back({static_cast<unsigned char>(pairs[i]), static_cast<unsigned char>(pairs[i + 1])});
  }
  return ranges;
}

int hex_digit(char32_t point) {
  if (point >= '0' && point <= '9') return static_cast<int>(point - '0');
  const char32_t lower = to_lower(point);
  return lower >= 'a' && lower <= 'f' ? static_cast<int>(lower - 'a' + 10) : -1;
}

// Behind `\x`: two digits, or any number of them in braces.
char32_t take_hex(RegexCursor& cursor) {
  const bool is_braced = cursor.take_if('{');
  char32_t point = 0;
  size_t digits = 0;
  while (!cursor.at_end() && hex_digit(cursor.peek()) >= 0 && (is_braced || digits < 2)) {
    point = point * 16 + static_cast<char32_t>(hex_digit(cursor.take()));
    ++digits;
    if (point > kMaxCodePoint) cursor.fail_here("a code point beyond 10FFFF");
  }
  const bool is_whole = is_braced ? digits > 0 && cursor.take_if('}') : digits == 2;
  if (!is_whole) cursor.fail_here("an escape `\\x` that is not complete");
  return point;
}

// Behind a first octal digit.
char32_t take_octal(RegexCursor& cursor, char32_t first) {
  char32_t point = first - '0';
  for (int i = 0; i < 2 && cursor.peek() >= '0' && cursor.peek() <= '7'; ++i) point = point * 8 + (cursor.take() - '0');
  return point;
}

// At `[:`: a class as `[:alpha:]`; empty if it is none.
RegexRanges take_posix_class(RegexCursor& cursor) {
  const size_t start = cursor.place();
  if (!cursor.take_if("[:")) return {};
  const bool is_negated = cursor.take_if('^');
  for (const NamedClass& known : kPosixClasses) {
    const size_t name = cursor.place();
    if (cursor.take_if(known.name) && cursor.take_if(":]")) {
      return is_negated ? complement(ranges_of(known.pairs)) : ranges_of(known.pairs);
    }
    cursor.go_to(name);
  }
  size_t length = 0;
  while (cursor.has(length) && cursor.peek(length) >= 'a' && cursor.peek(length) <= 'z') ++length;
  if (cursor.peek(length) == ':' && cursor.peek(length + 1) == ']') cursor.fail_here("an unknown class");
  cursor.go_to(start);
  return {};
}

char32_t take_class_point(RegexCursor& cursor) {
  if (cursor.at_end()) cursor.fail_here("`[` without `]`");
  return cursor.take_if('\\') ? take_escape(cursor) : cursor.take();
}

// A class within a class, or one code point, or a range.
void take_class_item(RegexCursor& cursor, RegexRanges& ranges) {
  RegexRanges inner = take_posix_class(cursor);
  if (inner.empty() && cursor.peek() == '\\' && cursor.has(1)) {
    cursor.take();
    inner = take_perl_class(cursor);
    if (inner.empty()) cursor.go_to(cursor.place() - 1);
  }
  if (!inner.empty()) {
    ranges.insert(ranges.end(), inner.begin(), inner.end());
    return;
  }
  const char32_t first = take_class_point(cursor);
  char32_t last = first;
  if (cursor.peek() == '-' && cursor.has(1) && cursor.peek(1) != ']') {
    cursor.take();
    last = take_class_point(cursor);
    if (last < first) cursor.fail_here("a range that runs backwards");
  }
  ranges.push_back({first, last});
}

}  // namespace

char32_t RegexCursor::take() {
  if (at_end()) fail_here("an end too early");
  return pattern_[at_++];
}

bool RegexCursor::take_if(char32_t point) {
  if (at_end() || pattern_[at_] != point) return false;
  ++at_;
  return true;
}

bool RegexCursor::take_if(std::string_view word) {
  for (size_t i = 0; i < word.size(); ++i) {
    if (!has(i) || peek(i) != static_cast<unsigned char>(word[i])) return false;
  }
  at_ += word.size();
  return true;
}

void RegexCursor::fail_here(std::string_view what) const {
  fail(ErrorCode::shape, "the pattern is no regular expression: {} near character {}", what, at_);
}

RegexRanges complement(RegexRanges ranges) {
  std::ranges::sort(ranges, {}, [](const Regex::Range& range) { return range.first; });
  RegexRanges result;
  char32_t next = 0;
  for (const Regex::Range& range : ranges) {
    if (range.first > next) result.push_back({next, range.first - 1});
    next = std::max<char32_t>(next, range.last + 1);
  }
  if (next <= kMaxCodePoint) result.push_back({next, kMaxCodePoint});
  return result;
}

RegexRanges take_perl_class(RegexCursor& cursor) {
  RegexRanges ranges;
  switch (to_lower(cursor.peek())) {
    case 'd':
      ranges = ranges_of("09");
      break;
    case 'w':
      ranges = ranges_of("09AZ__az");
      break;
    case 's':
      ranges = ranges_of("\t\n\f\r  ");
      break;
    default:
      return {};
  }
  const char32_t letter = cursor.take();
  return letter < 'a' ? complement(ranges) : ranges;
}

char32_t take_escape(RegexCursor& cursor) {
  if (cursor.at_end()) cursor.fail_here("a backslash at the end");
  const char32_t letter = cursor.take();
  switch (letter) {
    case 'a':
      return 7;
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case 'x':
      return take_hex(cursor);
    case 'p':
    case 'P':
    case 'C':
      fail(ErrorCode::unsupported, "the regular expression uses `\\{}`, which is not known here",
           static_cast<char>(letter));
    default:
      break;
  }
  const bool next_is_octal = cursor.peek() >= '0' && cursor.peek() <= '7';
  if (letter == '0' || (letter >= '1' && letter <= '7' && next_is_octal)) return take_octal(cursor, letter);
  const bool is_word =
      letter >= 0x80 || (letter >= '0' && letter <= '9') || (to_lower(letter) >= 'a' && to_lower(letter) <= 'z');
  if (is_word) cursor.fail_here("an unknown escape");
  return letter;
}

Regex::Set take_bracket_class(RegexCursor& cursor) {
  Regex::Set set;
  set.is_negated = cursor.take_if('^');
  bool is_first = true;
  while (is_first || cursor.peek() != ']') {
    if (cursor.at_end()) cursor.fail_here("`[` without `]`");
    take_class_item(cursor, set.ranges);
    is_first = false;
  }
  cursor.take();
  return set;
}

}  // namespace assay::ops
