#include "cli/options/arguments.h"

#include <algorithm>

#include "base/check.h"

namespace assay::cli {

Arguments::Arguments(const Command& command) : rows_(all_options(command)) {
  for (const OptionRow& row : command.positionals) rows_.push_back(&row);
}

const OptionRow* Arguments::find_row(std::string_view name) const {
  for (const OptionRow* row : rows_) {
    if (canonical_name(*row) == name) return row;
  }
  return nullptr;
}

std::string_view Arguments::option_named(std::string_view name) const {
  for (const OptionRow* row : rows_) {
    if (std::ranges::find(row->names, name) != row->names.end()) return canonical_name(*row);
  }
  return {};
}

const OptionRow& Arguments::row_of(std::string_view name) const {
  const OptionRow* row = find_row(name);
  ASSAY_CHECK(row != nullptr);
  return *row;
}

Arguments Arguments::with(std::string_view name, const std::vector<std::string>& values) const {
  Arguments changed = *this;
  const OptionRow& row = row_of(name);
  std::erase_if(changed.occurrences_, [&](const Occurrence& occurrence) { return occurrence.row == &row; });
  changed.occurrences_.push_back({&row, values});
  return changed;
}

bool Arguments::has(std::string_view name) const { return count(name) > 0; }

size_t Arguments::count(std::string_view name) const { return occurrences(name).size(); }

std::vector<std::vector<std::string>> Arguments::occurrences(std::string_view name) const {
  const OptionRow& row = row_of(name);
  std::vector<std::vector<std::string>> uses;
  for (const Occurrence& occurrence : occurrences_) {
    if (occurrence.row == &row) uses.push_back(occurrence.values);
  }
  return uses;
}

std::vector<std::string> Arguments::values(std::string_view name) const {
  const OptionRow& row = row_of(name);
  std::vector<std::string> all;
  for (const Occurrence& occurrence : occurrences_) {
    if (occurrence.row != &row) continue;
    if (row.repeat != Repeat::append) all.clear();
    all.insert(all.end(), occurrence.values.begin(), occurrence.values.end());
  }
  if (all.empty() && !row.default_value.empty()) all.emplace_back(row.default_value);
  return all;
}

std::string Arguments::as_typed(std::string message) const {
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz0123456789-";
  for (const Occurrence& use : occurrences_) {
    const std::string_view name = canonical_name(*use.row);
    if (!use.typed.starts_with("--") || use.typed == name) continue;  // a short name is known beside the long one
    for (size_t at = message.find(name); at != std::string::npos; at = message.find(name, at + 1)) {
      const size_t end = message.find_first_not_of(kOfNames, at);
      const bool is_whole = std::min(end, message.size()) == at + name.size();
      const bool is_part = at > 0 && kOfNames.find(message[at - 1]) != std::string_view::npos;
      if (is_whole && !is_part) message.replace(at, name.size(), use.typed);
    }
  }
  return message;
}

std::string Arguments::value(std::string_view name) const {
  const std::vector<std::string> all = values(name);
  ASSAY_CHECK(most_values(row_of(name).arity) <= 1 || (all.size() <= 1 && !name.starts_with('-')));
  return all.empty() ? std::string() : all.back();
}

}  // namespace assay::cli
