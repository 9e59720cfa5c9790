#include "ops/kernels/text/regex.h"

#include <algorithm>

#include "base/error.h"
#include "ops/kernels/text/code_points.h"
#include "ops/kernels/text/regex_syntax.h"

namespace assay::ops {
namespace {

using Instruction = Regex::Instruction;
using Place = Regex::Place;
using Step = Regex::Step;

constexpr size_t kMaxInstructions = 50'000;
constexpr size_t kMaxParts = 1'000'000;  // repeated empty parts give no instructions

// Emits instructions so that each part goes on at the one behind it.
class Compiler {
 public:
  explicit Compiler(const RegexTree& tree) : tree_(tree) {}

  std::vector<Instruction> compile() {
    emit(tree_.root);
    add({.step = Step::accept});
    return std::move(program_);
  }

 private:
  uint32_t here() const { return static_cast<uint32_t>(program_.size()); }

  uint32_t add(Instruction instruction) {
    if (program_.size() >= kMaxInstructions) fail(ErrorCode::limit, "the regular expression is too large");
    instruction.next = here() + 1;
    program_.push_back(instruction);
    return here() - 1;
  }

  void emit(uint32_t index) {
    if (++parts_ > kMaxParts) fail(ErrorCode::limit, "the regular expression is too large");
    const RegexNode& node = tree_.nodes[index];
    switch (node.kind) {
      case RegexNode::Kind::empty:
        return;
      case RegexNode::Kind::set:
        add({.step = Step::take, .set = node.set});
        return;
      case RegexNode::Kind::check:
        add({.step = Step::check, .place = node.place});
        return;
      case RegexNode::Kind::sequence:
        std::ranges::for_each(node.parts, [&](uint32_t part) { emit(part); });
        return;
      case RegexNode::Kind::choice:
        return emit_choice(node);
      case RegexNode::Kind::repeat:
        return emit_repeat(node);
    }
  }

  void emit_choice(const RegexNode& node) {
    std::vector<uint32_t> ends;
    for (size_t i = 0; i + 1 < node.parts.size(); ++i) {
      const uint32_t fork = add({.step = Step::split});
      emit(node.parts[i]);
      ends.push_back(add({.step = Step::split}));
      program_[fork].other = here();
    }
    emit(node.parts.back());
    for (const uint32_t end : ends) program_[end].next = program_[end].other = here();
  }

  void emit_repeat(const RegexNode& node) {
    for (uint32_t i = 0; i < node.least; ++i) emit(node.parts[0]);
    if (node.most == RegexNode::kNoLimit) {
      const uint32_t fork = add({.step = Step::split});
      emit(node.parts[0]);
      const uint32_t back = add({.step = Step::split});
      program_[back].next = program_[back].other = fork;
      program_[fork].other = here();
      return;
    }
    std::vector<uint32_t> forks;
    for (uint32_t i = node.least; i < node.most; ++i) {
      forks.push_back(add({.step = Step::split}));
      emit(node.parts[0]);
    }
    for (const uint32_t fork : forks) program_[fork].other = here();
  }

  const RegexTree& tree_;
  std::vector<Instruction> program_;
  size_t parts_ = 0;
};

bool is_word(char32_t point) {
  return point == '_' || (point >= '0' && point <= '9') || (point >= 'a' && point <= 'z') ||
         (point >= 'A' && point <= 'Z');
}

bool holds(Place place, const std::vector<char32_t>& text, size_t at) {
  const bool is_begin = at == 0;
  const bool is_end = at == text.size();
  const bool is_edge = (!is_begin && is_word(text[at - 1])) != (!is_end && is_word(text[at]));
  switch (place) {
    case Place::text_begin:
      return is_begin;
    case Place::text_end:
      return is_end;
    case Place::line_begin:
      return is_begin || text[at - 1] == '\n';
    case Place::line_end:
      return is_end || text[at] == '\n';
    case Place::word_edge:
      return is_edge;
    default:
      return !is_edge;
  }
}

// The instructions that a match may be at, each once.
class States {
 public:
  States(const std::vector<Instruction>& program, const std::vector<char32_t>& text)
      : program_(program), text_(text), seen_at_(program.size(), SIZE_MAX) {}

  void clear() { takers_.clear(); }
  const std::vector<uint32_t>& takers() const { return takers_; }
  bool is_accepted() const { return is_accepted_; }

  // Adds what can be reached from `start` at a place of the text without taking a code point.
  void add(uint32_t start, size_t at) {
    stack_.push_back(start);
    while (!stack_.empty()) {
      const uint32_t index = stack_.back();
      stack_.pop_back();
      if (seen_at_[index] == at) continue;
      seen_at_[index] = at;
      const Instruction& instruction = program_[index];
      if (instruction.step == Step::take) takers_.push_back(index);
      if (instruction.step == Step::accept && at == text_.size()) is_accepted_ = true;
      if (instruction.step == Step::check && holds(instruction.place, text_, at)) stack_.push_back(instruction.next);
      if (instruction.step == Step::split) stack_.insert(stack_.end(), {instruction.next, instruction.other});
    }
  }

 private:
  const std::vector<Instruction>& program_;
  const std::vector<char32_t>& text_;
  std::vector<size_t> seen_at_;
  std::vector<uint32_t> takers_;
  std::vector<uint32_t> stack_;
  bool is_accepted_ = false;
};

}  // namespace

bool Regex::Set::holds(char32_t point) const {
  if (point >= kBadByte) return false;
  const auto has = [&](char32_t wanted) {
    return std::ranges::any_of(ranges,
                               [&](const Range& range) { return range.first <= wanted && wanted <= range.last; });
  };
  const bool is_in = has(point) || (folds_case && (has(to_lower(point)) || has(to_upper(point))));
  return is_in != is_negated;
}

Regex::Regex(std::string_view pattern) {
  RegexTree tree = parse_regex(pattern);
  program_ = Compiler(tree).compile();
  sets_ = std::move(tree.sets);
}

bool Regex::matches_whole(std::string_view text) const {
  const std::vector<char32_t> points = decode_utf8(text);
  States states(program_, points);
  states.add(0, 0);
  for (size_t at = 0; at < points.size(); ++at) {
    const std::vector<uint32_t> takers = states.takers();
    if (takers.empty()) return false;
    states.clear();
    for (const uint32_t taker : takers) {
      if (sets_[program_[taker].set].holds(points[at])) states.add(program_[taker].next, at + 1);
    }
  }
  return states.is_accepted();
}

}  // namespace assay::ops
