#include "cli/options/arguments.h"

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

const OptionRow& Arguments::row_of(std::string_view name) const {
  const OptionRow* row = find_row(name);
  ASSAY_CHECK(row != nullptr);
  return *row;
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

std::string Arguments::value(std::string_view name) const {
  ASSAY_CHECK(most_values(row_of(name).arity) <= 1);
  const std::vector<std::string> all = values(name);
  return all.empty() ? std::string() : all.back();
}

}  // namespace assay::cli
