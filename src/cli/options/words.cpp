#include "cli/options/words.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::cli {
namespace {

// A negative number, as `-1` or `-.5e3`.
bool is_negative_number(std::string_view text) {
  if (text.size() < 2 || text[0] != '-' || text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) {
    return false;
  }
  double value = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  return result.ptr == end && result.ec != std::errc::invalid_argument;
}

// The name in front of an equals sign.
std::string_view name_part(std::string_view text) { return text.substr(0, text.find('=')); }

class Classifier {
 public:
  Classifier(const Command& command, std::span<const std::string> typed)
      : command_(command), typed_(typed), options_(all_options(command)) {}

  Words run();

 private:
  Word classify(size_t at);
  std::optional<Word> exact(size_t at, std::string_view name, std::optional<std::string_view> attached) const;
  const Spelling* find_spelling(size_t at, const Word& word) const;
  std::optional<Word> abbreviated(std::string_view text);
  void add_candidate(std::vector<Word>& found, const OptionRow& row, std::string_view text) const;
  bool has_numbers_as_names() const;
  [[noreturn]] void fail_unknown(std::string_view text) const;

  const Command& command_;
  std::span<const std::string> typed_;
  std::vector<const OptionRow*> options_;
  std::vector<std::string> notes_;
};

Words Classifier::run() {
  std::vector<Word> words;
  bool options_ended = false;
  for (size_t at = 0; at < typed_.size(); ++at) {
    const bool ends = !options_ended && typed_[at] == "--";
    if (ends)
      words.push_back({.kind = Word::Kind::end_of_options, .text = typed_[at]});
    else
      words.push_back(options_ended ? Word{.text = typed_[at]} : classify(at));
    const OptionRow* const row = words.back().row;
    options_ended |= ends || (row != nullptr && row->arity == Arity::rest);
  }
  return {std::move(words), std::move(notes_)};
}

Word Classifier::classify(size_t at) {
  const std::string_view text = typed_[at];
  if (text.size() < 2 || text[0] != '-') return {.text = text};
  if (std::optional<Word> word = exact(at, text, std::nullopt)) return *word;
  const std::string_view name = name_part(text);
  if (name.size() < text.size()) {
    if (std::optional<Word> word = exact(at, name, text.substr(name.size() + 1))) return *word;
  }
  if (const size_t end = text.find('@'); end != std::string_view::npos) {  // `--onnxrt@PYTHON`
    if (std::optional<Word> word = exact(at, text.substr(0, end + 1), text.substr(end + 1))) return *word;
  }
  if (std::optional<Word> word = abbreviated(text)) return *word;
  const bool is_number = is_negative_number(text) && !has_numbers_as_names();
  if (is_number || name.find(' ') != std::string_view::npos) return {.text = text};
  fail_unknown(text);
}

std::optional<Word> Classifier::exact(size_t at, std::string_view name,
                                      std::optional<std::string_view> attached) const {
  Word word = {.kind = Word::Kind::option, .text = name, .row = find_option(command_, name), .attached = attached};
  word.spelling = find_spelling(at, word);
  if (word.row == nullptr && word.spelling == nullptr) return std::nullopt;
  return word;
}

// The spelling that fits the name and its value, attached or in the next word.
const Spelling* Classifier::find_spelling(size_t at, const Word& word) const {
  std::vector<std::string> expected;
  const std::string_view next = at + 1 < typed_.size() ? std::string_view(typed_[at + 1]) : std::string_view();
  const std::string_view value = word.attached.value_or(next.starts_with('-') ? std::string_view() : next);
  for (const OptionGroup& group : command_.groups) {
    for (const Spelling& spelling : group.spellings) {
      if (spelling.option != word.text) continue;
      if (spelling.value.empty() || (!value.empty() && matches_glob(spelling.value, value))) return &spelling;
      expected.push_back(spelling.value == "*" ? "a value" : fmt::format("`{}`", spelling.value));
    }
  }
  if (word.row != nullptr || expected.empty()) return nullptr;
  fail(ErrorCode::usage, "option `{}`: expected {}, found {}", word.text, join(expected, " or "),
       value.empty() ? "nothing" : fmt::format("`{}`", value));
}

// Adds the row if one of its names starts with the text, or if the text is its short name with a value behind it.
void Classifier::add_candidate(std::vector<Word>& found, const OptionRow& row, std::string_view text) const {
  const bool is_long = text.starts_with("--");
  const std::string_view prefix = is_long ? name_part(text) : text;
  std::optional<Word> candidate;
  for (const std::string_view name : row.names) {
    Word word = {.kind = Word::Kind::option, .text = name, .row = &row};
    if (!is_long && name == text.substr(0, 2)) {
      word.attached = text.substr(2);
      candidate = word;
    } else if (name.starts_with(prefix) && !command_.exact_names && !candidate) {
      if (prefix.size() < text.size()) word.attached = text.substr(prefix.size() + 1);
      candidate = word;
    }
  }
  if (candidate) found.push_back(*candidate);
}

std::optional<Word> Classifier::abbreviated(std::string_view text) {
  std::vector<Word> found;
  for (const OptionRow* row : options_) add_candidate(found, *row, text);
  if (found.empty()) return std::nullopt;
  const bool is_long = text.starts_with("--");
  const std::string_view prefix = is_long ? name_part(text) : text;
  if (found.size() > 1) {
    std::vector<std::string> names;
    for (const Word& word : found) names.push_back(fmt::format("`{}`", word.text));
    fail(ErrorCode::usage, "option `{}` is ambiguous: it could be {}", prefix, join(names, ", "));
  }
  if (is_long) notes_.push_back(fmt::format("`{}` is read as `{}`", prefix, found[0].text));
  return found[0];
}

bool Classifier::has_numbers_as_names() const {
  return std::ranges::any_of(options_,
                             [](const OptionRow* row) { return std::ranges::any_of(row->names, is_negative_number); });
}

void Classifier::fail_unknown(std::string_view text) const {
  const std::string_view name = name_part(text);
  std::vector<std::string> names;
  for (const OptionRow* row : options_) {
    if (!row->hidden) names.insert(names.end(), row->names.begin(), row->names.end());
  }
  const std::optional<std::string> near = name.size() > 2 ? did_you_mean(name, names) : std::nullopt;
  fail(ErrorCode::usage, "unknown option `{}`{}", name, near ? fmt::format("; did you mean `{}`?", *near) : "");
}

}  // namespace

Words classify_words(const Command& command, std::span<const std::string> typed) {
  return Classifier(command, typed).run();
}

}  // namespace assay::cli
