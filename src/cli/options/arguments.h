#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/options/spec.h"

namespace assay::cli {

// The words that were typed, by the canonical names of the command's rows (`--show`, `model_file`). Asking for a name
// that the command does not have is our bug. Refers to the Command, which must outlive it.
class Arguments {
 public:
  // One use of an option, or one positional.
  struct Occurrence {
    const OptionRow* row;
    std::vector<std::string> values;
    std::string typed = {};  // the name that the user gave the option
  };

  explicit Arguments(const Command& command);

  // A copy with other values of a positional or an option.
  Arguments with(std::string_view name, const std::vector<std::string>& values) const;

  // True if the option or positional was given.
  bool has(std::string_view name) const;
  bool flag(std::string_view name) const { return has(name); }
  size_t count(std::string_view name) const;
  // The value, of a row that has one at most; the row's default if there is none.
  std::string value(std::string_view name) const;
  // All values: of the last use, or of all uses if the row is `append`; the row's default if there are none.
  std::vector<std::string> values(std::string_view name) const;
  // The values of each use on its own.
  std::vector<std::vector<std::string>> occurrences(std::string_view name) const;
  // Everything in the order typed, for options whose relative order matters.
  const std::vector<Occurrence>& in_order() const { return occurrences_; }
  // True if the command has an option or positional of this name.
  bool knows(std::string_view name) const { return find_row(name) != nullptr; }
  // The canonical name of the command's option that has this name among others; empty: it has none.
  std::string_view option_named(std::string_view name) const;
  // All options and positionals of the command.
  const std::vector<const OptionRow*>& rows() const { return rows_; }

  // The message with canonical option names replaced by the names that the user typed.
  std::string as_typed(std::string message) const;

  // Lines for standard error: abbreviations and older spellings that were accepted.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  friend class Parser;
  const OptionRow* find_row(std::string_view name) const;
  const OptionRow& row_of(std::string_view name) const;

  std::vector<const OptionRow*> rows_;
  std::vector<Occurrence> occurrences_;
  std::vector<std::string> notes_;
};

}  // namespace assay::cli
