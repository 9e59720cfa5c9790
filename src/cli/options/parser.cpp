#include "cli/options/parser.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/options/values.h"
#include "cli/options/words.h"

namespace assay::cli {

class Parser {
 public:
  Parser(const Command& command, std::span<const std::string> typed)
      : command_(command), words_(classify_words(command, typed)), result_(command) {
    for (const OptionRow& row : command.positionals) pending_.push_back(&row);
  }

  Arguments run();

 private:
  size_t take_option(size_t at);
  size_t take_spelling(size_t at);
  size_t take_values(const OptionRow& row, std::string_view name, size_t at,
                     std::optional<std::string_view> first = std::nullopt);
  void take_attached(const OptionRow& row, std::string_view name, std::string_view value);
  void store(const OptionRow& row, std::vector<std::string> values, std::string_view typed = {});
  void check() const;
  size_t take_positionals(size_t at);
  std::vector<size_t> share_out(size_t available) const;
  void check_complete() const;
  void check_choices(const Arguments::Occurrence& occurrence) const;
  bool has_word(size_t at) const { return at < words_.words.size(); }
  const Word& word(size_t at) const { return words_.words[at]; }
  bool is_value(size_t at) const { return has_word(at) && word(at).kind == Word::Kind::value; }
  bool is_option(size_t at) const { return has_word(at) && word(at).kind == Word::Kind::option; }

  const Command& command_;
  Words words_;
  std::vector<const OptionRow*> pending_;  // positionals not filled yet
  std::string_view greedy_option_;         // the last option that took a list, and
  std::string_view greedy_value_;          // last value of the option: perhaps meant as a positional
  Arguments result_;
};

Arguments Parser::run() {
  result_.notes_ = std::move(words_.notes);
  for (size_t at = 0; has_word(at);) at = is_option(at) ? take_option(at) : take_positionals(at);
  if (!result_.has("--help")) check();  // else whatever is missing
  return std::move(result_);
}

void Parser::check() const {
  try {
    for (const Arguments::Occurrence& occurrence : result_.occurrences_) check_choices(occurrence);
    check_complete();
  } catch (const Error& error) {
    throw Error(error.code(), result_.as_typed(error.message()));
  }
}

// Takes the option (or a bundle of flags) and its values; returns the index of the word behind.
size_t Parser::take_option(size_t at) {
  if (word(at).spelling != nullptr) return take_spelling(at);
  const OptionRow* row = word(at).row;
  std::string name(word(at).text);
  std::optional<std::string_view> attached = word(at).attached;
  while (attached && !attached->empty() && row->arity == Arity::flag && name[1] != '-') {
    store(*row, {});
    name = {'-', attached->front()};
    row = find_option(command_, name);
    if (row == nullptr) fail(ErrorCode::usage, "unknown option `{}` after `{}`", name, word(at).text);
    attached = attached->size() > 1 ? std::optional(attached->substr(1)) : std::nullopt;
    if (attached && attached->starts_with('=')) attached->remove_prefix(1);
  }
  if (!attached || row->arity == Arity::rest) return take_values(*row, name, at + 1, attached);
  take_attached(*row, name, *attached);
  return at + 1;
}

// Stores the options of the modern form; the last one takes the value that is attached or follows if it has none.
size_t Parser::take_spelling(size_t at) {
  const Spelling& spelling = *word(at).spelling;
  std::optional<std::string_view> attached = word(at).attached;
  std::string value;
  ++at;
  if (!spelling.value.empty()) {
    value = attached ? *attached : word(at++).text;
    attached.reset();
  }
  const std::vector<std::string> modern = spelled_out(spelling, value);
  const std::string meaning = modern.empty() ? fmt::format("has no effect: {}", spelling.reason)
                                             : fmt::format("is read as `{}`", join(modern, " "));
  result_.notes_.push_back(fmt::format("`{}{}{}` {}", spelling.option, value.empty() ? "" : "=", value, meaning));
  for (size_t i = 0; i < modern.size();) {
    const OptionRow* row = find_option(command_, modern[i]);
    ASSAY_CHECK(row != nullptr);
    std::vector<std::string> values;
    for (++i; i < modern.size() && !modern[i].starts_with('-'); ++i) values.push_back(modern[i]);
    const bool is_open = i == modern.size() && values.size() < least_values(row->arity);
    if (!is_open)
      store(*row, std::move(values));
    else if (!attached)
      at = take_values(*row, spelling.option, at);
    else
      take_attached(*row, spelling.option, *attached);
    if (is_open) attached.reset();
  }
  if (attached) fail(ErrorCode::usage, "option `{}` takes no value, found `{}`", spelling.option, *attached);
  return at;
}

// The values from `at` on, behind the one that is attached, if any.
size_t Parser::take_values(const OptionRow& row, std::string_view name, size_t at,
                           std::optional<std::string_view> first) {
  std::vector<std::string> values;
  if (first) values.emplace_back(*first);
  while (values.size() < most_values(row.arity) && is_value(at)) values.emplace_back(word(at++).text);
  if (values.size() < least_values(row.arity)) {
    const std::string seen = has_word(at) ? fmt::format("`{}`", word(at).text) : "the end of the command";
    fail(ErrorCode::usage, "option `{}`: expected {}, found {}", name, value_label(row), seen);
  }
  if (!values.empty() && row.arity != Arity::one) {
    greedy_option_ = canonical_name(row);
    greedy_value_ = word(at - 1).text;
  }
  store(row, std::move(values), name);
  return at;
}

void Parser::take_attached(const OptionRow& row, std::string_view name, std::string_view value) {
  if (row.arity == Arity::flag) fail(ErrorCode::usage, "option `{}` takes no value, found `{}`", name, value);
  store(row, {std::string(value)}, name);
}

void Parser::store(const OptionRow& row, std::vector<std::string> values, std::string_view typed) {
  result_.occurrences_.push_back({&row, std::move(values), std::string(typed)});
}

// Shares `available` words out to the next positionals: as many positionals as can have their least number, the first
// ones as many words as the later ones leave.
std::vector<size_t> Parser::share_out(size_t available) const {
  std::vector<size_t> counts;
  size_t least = 0;
  for (const OptionRow* row : pending_) {
    if (least + least_values(row->arity) > available) break;
    counts.push_back(least_values(row->arity));
    least += counts.back();
  }
  size_t spare = available - least;
  for (size_t i = 0; i < counts.size(); ++i) {
    const size_t extra = std::min(spare, most_values(pending_[i]->arity) - counts[i]);
    counts[i] += extra;
    spare -= extra;
  }
  return counts;
}

size_t Parser::take_positionals(size_t at) {
  std::vector<std::string> values;
  for (; has_word(at) && !is_option(at); ++at) {
    if (is_value(at)) values.emplace_back(word(at).text);
  }
  std::vector<size_t> counts = share_out(values.size());
  while (has_word(at) && !counts.empty() && counts.back() == 0) counts.pop_back();  // wait for words behind
  size_t used = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(used);
    if (counts[i] > 0) store(*pending_[i], {first, first + static_cast<std::ptrdiff_t>(counts[i])});
    used += counts[i];
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(counts.size()));
  if (used < values.size()) fail(ErrorCode::usage, "unexpected word `{}`", values[used]);
  return at;
}

void Parser::check_complete() const {
  for (const OptionRow* row : pending_) {
    if (least_values(row->arity) == 0) continue;
    const std::string label = value_label(*row);
    if (greedy_option_.empty()) fail(ErrorCode::usage, "missing {}", label);
    fail(ErrorCode::usage, "missing {0}; option `{1}` took `{2}`: write {0} before the options, or after `--`", label,
         greedy_option_, greedy_value_);
  }
  for (const OptionRow* row : all_options(command_)) {
    if (row->required && !result_.has(canonical_name(*row)))
      fail(ErrorCode::usage, "missing option `{}`", canonical_name(*row));
  }
}

void Parser::check_choices(const Arguments::Occurrence& occurrence) const {
  const OptionRow& row = *occurrence.row;
  for (const std::string& value : occurrence.values) {
    if (row.choices.empty() || std::ranges::find(row.choices, value) != row.choices.end()) continue;
    const bool swallowed = canonical_name(row) == greedy_option_ && value == greedy_value_;
    const bool missing = swallowed && !pending_.empty() && least_values(pending_[0]->arity) > 0;
    if (missing) check_complete();
    fail_choice(canonical_name(row), value, row.choices);
  }
}

Arguments parse_options(const Command& command, std::span<const std::string> words) {
  return Parser(command, words).run();
}

}  // namespace assay::cli
