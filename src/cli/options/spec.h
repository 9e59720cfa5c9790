#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

class Arguments;
struct Environment;

// The number of values of an option, or of words of a positional. `rest` takes all words behind it, whatever they are.
enum class Arity { flag, one, optional, one_or_more, any, rest };

// The effect of an option given again: it replaces the values, adds to them, or is counted.
enum class Repeat { last, append, count };

// One option, or one positional, as data. All texts are literals.
struct OptionRow {
  std::vector<std::string_view> names;  // spellings: `-v`, `--verbose`, then aliases; a positional has one bare name
  Arity arity = Arity::one;
  Repeat repeat = Repeat::last;
  std::string_view metavar;               // the value in help; default: the name in capitals
  std::vector<std::string_view> choices;  // if any, every value must be one of them
  std::string_view default_value;         // value() of an option that is not given
  std::string_view help;                  // one sentence: lower case, no full stop
  std::string_view details;               // further sentences for the manual
  bool is_file = false;                   // completions offer files
  bool is_output = false;                 // the file is written; it must not be one that the command reads
  bool replaces_model = false;            // may be the model itself
  bool is_per_model = false;              // of several models, each gets a file of its own
  bool required = false;
  bool hidden = false;  // accepted, but not shown
};

// An older or misspelt form, accepted with a line that names the modern one.
struct Spelling {
  std::string_view option;              // `--mode`
  std::string_view value;               // glob that its value must match; empty: the form has no value of its own
  std::vector<std::string_view> words;  // `--show layers attrs`; `{}` is replaced by the value; none: no effect
  std::string_view reason;              // for having no modern form, as `it is the default listing`
};

// Options that belong together. Groups that several commands share are made by functions in options/groups/.
struct OptionGroup {
  std::string_view title;
  std::string_view description;
  std::vector<OptionRow> rows;
  std::vector<Spelling> spellings;
};

// A command: its name, its options and the function that runs it.
struct Command {
  std::string_view path;         // `inspect model`
  std::string_view summary;      // one line in lists
  std::string_view description;  // paragraphs, separated by empty lines
  std::vector<OptionRow> positionals;
  std::vector<OptionGroup> groups;
  int (*run)(const Arguments&, Environment&) = nullptr;
  std::vector<std::string_view> examples = {};  // whole command lines
  bool exact_names = false;                     // no abbreviated option names
  bool hidden = false;
  bool takes_models = false;  // `run` is called for each model that `model_file` names; a folder has several
};

// The name by which a row is looked up: its first long name, or its first name.
std::string_view canonical_name(const OptionRow& row);
// The value as help and messages show it: `FILE`, `{a,b}`.
std::string value_label(const OptionRow& row);
// Least and greatest number of values of one use.
size_t least_values(Arity arity);
size_t most_values(Arity arity);
// `-h`, which every command has.
const OptionRow& help_row();
// The option of this name in any group (help included), or null.
const OptionRow* find_option(const Command& command, std::string_view name);
// The number of words before `--`, or before an option that takes all the rest.
size_t own_words(const Command& command, std::span<const std::string> words);
// All options in the order of their groups, `--help` first.
std::vector<const OptionRow*> all_options(const Command& command);

}  // namespace assay::cli
