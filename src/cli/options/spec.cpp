#include "cli/options/spec.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"

namespace assay::cli {

std::string_view canonical_name(const OptionRow& row) {
  ASSAY_CHECK(!row.names.empty());
  for (const std::string_view name : row.names) {
    if (name.starts_with("--")) return name;
  }
  return row.names.front();
}

std::string value_label(const OptionRow& row) {
  if (!row.metavar.empty()) return std::string(row.metavar);
  if (!row.choices.empty()) return fmt::format("{{{}}}", fmt::join(row.choices, ","));
  std::string label(canonical_name(row));
  label.erase(0, label.find_first_not_of('-'));
  for (char& c : label) c = c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return label;
}

size_t least_values(Arity arity) {
  return arity == Arity::one || arity == Arity::one_or_more || arity == Arity::rest ? 1 : 0;
}

size_t most_values(Arity arity) {
  if (arity == Arity::flag) return 0;
  return arity == Arity::one || arity == Arity::optional ? 1 : std::numeric_limits<size_t>::max();
}

const OptionRow& help_row() {
  static const OptionRow row = {.names = {"-h", "--help"}, .arity = Arity::flag, .help = "show this help and exit"};
  return row;
}

std::vector<const OptionRow*> all_options(const Command& command) {
  std::vector<const OptionRow*> rows = {&help_row()};
  for (const OptionGroup& group : command.groups) {
    for (const OptionRow& row : group.rows) rows.push_back(&row);
  }
  return rows;
}

size_t own_words(const Command& command, std::span<const std::string> words) {
  for (size_t at = 0; at < words.size(); ++at) {
    const OptionRow* const row = find_option(command, std::string_view(words[at]).substr(0, words[at].find('=')));
    if (words[at] == "--" || (row != nullptr && row->arity == Arity::rest)) return at;
  }
  return words.size();
}

const OptionRow* find_option(const Command& command, std::string_view name) {
  for (const OptionRow* row : all_options(command)) {
    if (std::ranges::find(row->names, name) != row->names.end()) return row;
  }
  return nullptr;
}

}  // namespace assay::cli
