#include "ops/kernels/text/regex_syntax.h"

#include "base/error.h"
#include "ops/kernels/text/code_points.h"
#include "ops/kernels/text/regex_class.h"

namespace assay::ops {
namespace {

constexpr uint32_t kMaxRepeat = 1000;
constexpr int kMaxDepth = 200;

struct Flags {
  bool folds_case = false;
  bool is_multiline = false;
  bool dot_takes_newline = false;
};

using Kind = RegexNode::Kind;
using Place = Regex::Place;

class Parser {
 public:
  explicit Parser(std::string_view pattern) : cursor_(decode_utf8(pattern)) {}

  RegexTree parse() {
    tree_.root = parse_choice();
    if (!cursor_.at_end()) cursor_.fail_here("`)` without `(`");
    return std::move(tree_);
  }

 private:
  uint32_t add(RegexNode node) {
    tree_.nodes.push_back(std::move(node));
    return static_cast<uint32_t>(tree_.nodes.size() - 1);
  }
  uint32_t add_set(Regex::Set set) {
    set.folds_case = flags_.folds_case;
    tree_.sets.push_back(std::move(set));
    return add({.kind = Kind::set, .set = static_cast<uint32_t>(tree_.sets.size() - 1)});
  }
  uint32_t add_check(Place place) { return add({.kind = Kind::check, .place = place}); }
  uint32_t add_point(char32_t point) { return add_set({{{point, point}}}); }

  uint32_t parse_choice() {
    if (++depth_ > kMaxDepth) cursor_.fail_here("groups within more than 200 groups");
    RegexNode choice{.kind = Kind::choice};
    do choice.parts.push_back(parse_sequence());
    while (cursor_.take_if('|'));
    --depth_;
    return add(std::move(choice));
  }

  uint32_t parse_sequence() {
    RegexNode sequence{.kind = Kind::sequence};
    while (!cursor_.at_end() && cursor_.peek() != '|' && cursor_.peek() != ')') {
      if (cursor_.take_if("\\Q")) {
        while (!cursor_.at_end() && !cursor_.take_if("\\E")) sequence.parts.push_back(add_point(cursor_.take()));
        if (!sequence.parts.empty()) sequence.parts.back() = parse_repeats(sequence.parts.back());
        continue;
      }
      const std::optional<uint32_t> atom = parse_atom();
      if (atom) sequence.parts.push_back(parse_repeats(*atom));
    }
    return add(std::move(sequence));
  }

  // Empty behind a group that only sets flags.
  std::optional<uint32_t> parse_atom() {
    const char32_t point = cursor_.take();
    switch (point) {
      case '(':
        return parse_group();
      case '[':
        return add_set(take_bracket_class(cursor_));
      case '.':
        return add_set(dot());
      case '^':
        return add_check(flags_.is_multiline ? Place::line_begin : Place::text_begin);
      case '$':
        return add_check(flags_.is_multiline ? Place::line_end : Place::text_end);
      case '\\':
        return parse_escape();
      case '*':
      case '+':
      case '?':
        cursor_.fail_here("nothing to repeat");
      default:
        return add_point(point);
    }
  }

  Regex::Set dot() const {
    if (flags_.dot_takes_newline) return {{{0, kMaxCodePoint}}};
    return {complement({{'\n', '\n'}})};
  }

  uint32_t parse_escape() {
    if (cursor_.take_if('A')) return add_check(Place::text_begin);
    if (cursor_.take_if('z')) return add_check(Place::text_end);
    if (cursor_.take_if('b')) return add_check(Place::word_edge);
    if (cursor_.take_if('B')) return add_check(Place::no_word_edge);
    RegexRanges ranges = take_perl_class(cursor_);
    return ranges.empty() ? add_point(take_escape(cursor_)) : add_set({std::move(ranges)});
  }

  std::optional<uint32_t> parse_group() {
    const Flags outer = flags_;
    if (cursor_.take_if("?P<") || cursor_.take_if("?<")) {
      skip_name();
    } else if (cursor_.take_if('?')) {
      if (!parse_flags()) return std::nullopt;
    }
    const uint32_t inner = parse_choice();
    if (!cursor_.take_if(')')) cursor_.fail_here("`(` without `)`");
    flags_ = outer;
    return inner;
  }

  void skip_name() {
    size_t length = 0;
    for (; cursor_.peek() != '>'; ++length) {
      const char32_t point = cursor_.take();
      const bool is_word =
          point == '_' || (point >= '0' && point <= '9') || (to_lower(point) >= 'a' && to_lower(point) <= 'z');
      if (!is_word) cursor_.fail_here("a bad name of a group");
    }
    if (length == 0) cursor_.fail_here("a group with an empty name");
    cursor_.take();
  }

  // Behind `(?`; false if the group ends there, so that the flags hold in what follows.
  bool parse_flags() {
    bool value = true;
    for (;;) {
      switch (cursor_.take()) {
        case 'i':
          flags_.folds_case = value;
          break;
        case 'm':
          flags_.is_multiline = value;
          break;
        case 's':
          flags_.dot_takes_newline = value;
          break;
        case 'U':
          break;  // the preferred match does not matter
        case '-':
          if (!value) cursor_.fail_here("bad flags");
          value = false;
          break;
        case ':':
          return true;
        case ')':
          return false;
        default:
          cursor_.fail_here("an unknown kind of group");
      }
    }
  }

  uint32_t parse_repeats(uint32_t atom) {
    RegexNode repeat{.kind = Kind::repeat, .parts = {atom}};
    if (!take_repeat(repeat)) return atom;
    cursor_.take_if('?');
    RegexNode second;
    if (take_repeat(second)) cursor_.fail_here("a repetition of a repetition");
    return add(std::move(repeat));
  }

  bool take_repeat(RegexNode& repeat) {
    repeat.most = RegexNode::kNoLimit;
    if (cursor_.take_if('*')) return true;
    if (cursor_.take_if('+')) return (repeat.least = 1) != 0;
    if (cursor_.take_if('?')) return (repeat.most = 1) != 0;
    return take_counts(repeat);
  }

  // `{2}`, `{2,}` or `{2,5}`; what is none of these stands for itself.
  bool take_counts(RegexNode& repeat) {
    const size_t start = cursor_.place();
    const auto leave = [&] {
      cursor_.go_to(start);
      return false;
    };
    if (!cursor_.take_if('{')) return false;
    const std::optional<uint32_t> least = take_number();
    if (!least) return leave();
    repeat.least = repeat.most = *least;
    if (cursor_.take_if(',')) repeat.most = cursor_.peek() == '}' ? RegexNode::kNoLimit : take_number().value_or(0);
    if (!cursor_.take_if('}')) return leave();
    const bool is_bad = repeat.least > kMaxRepeat || (repeat.most != RegexNode::kNoLimit && repeat.most > kMaxRepeat) ||
                        repeat.most < repeat.least;
    if (is_bad) cursor_.fail_here("bad numbers of a repetition");
    return true;
  }

  std::optional<uint32_t> take_number() {
    std::optional<uint32_t> number;
    while (cursor_.peek() >= '0' && cursor_.peek() <= '9') {
      number = std::min(number.value_or(0) * 10 + (cursor_.take() - '0'), kMaxRepeat + 1);
    }
    return number;
  }

  RegexCursor cursor_;
  RegexTree tree_;
  Flags flags_;
  int depth_ = 0;
};

}  // namespace

RegexTree parse_regex(std::string_view pattern) { return Parser(pattern).parse(); }

}  // namespace assay::ops
