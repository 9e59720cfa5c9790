// Words (the input's lines) against a table with every arity: no crash, and what was parsed, written out again in a
// canonical form, parses to the same.
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/parser.h"

namespace {

using assay::cli::Arguments;
using assay::cli::Arity;
using assay::cli::Command;
using assay::cli::OptionRow;
using assay::cli::Repeat;
using Words = std::vector<std::string>;

const Command& command() {
  static const Command instance = {
      .path = "fuzz",
      .positionals = {{.names = {"model"}}, {.names = {"others"}, .arity = Arity::any}},
      .groups = {{
          .title = "Fuzz",
          .rows =
              {
                  {.names = {"-f", "--flag"}, .arity = Arity::flag},
                  {.names = {"-v", "--verbose"}, .arity = Arity::flag, .repeat = Repeat::count},
                  {.names = {"-o", "--one"}, .default_value = "1"},
                  {.names = {"--maybe"}, .arity = Arity::optional},
                  {.names = {"-s", "--some"}, .arity = Arity::one_or_more, .repeat = Repeat::append},
                  {.names = {"--any"}, .arity = Arity::any},
                  {.names = {"--any-choice"}, .arity = Arity::any, .choices = {"a", "b"}},
              },
          .spellings =
              {
                  {.option = "--mode", .value = "full", .words = {"--some", "a", "b"}},
                  {.option = "--mode", .value = "*:*", .words = {"--some", "{}"}},
                  {.option = "--louder", .words = {"-v"}},
                  {.option = "--old", .words = {"--one"}},
                  {.option = "--useless", .reason = "not needed"},
              },
      }},
  };
  return instance;
}

// One use of an option: `--name=value`, or `--name value value`.
void write_use(const Arguments::Occurrence& use, Words& words) {
  std::string name(canonical_name(*use.row));
  if (use.values.size() == 1) {
    words.push_back(name + '=' + use.values[0]);
    return;
  }
  words.push_back(std::move(name));
  words.insert(words.end(), use.values.begin(), use.values.end());
}

Words written(const Arguments& arguments) {
  Words words, positionals;
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    const bool is_option = use.row->names[0].starts_with('-');
    if (is_option)
      write_use(use, words);
    else
      positionals.insert(positionals.end(), use.values.begin(), use.values.end());
  }
  words.push_back("--");
  words.insert(words.end(), positionals.begin(), positionals.end());
  return words;
}

bool same(const Arguments& a, const Arguments& b) {
  for (const OptionRow* row : all_options(command())) {
    if (a.occurrences(canonical_name(*row)) != b.occurrences(canonical_name(*row))) return false;
  }
  return a.values("model") == b.values("model") && a.values("others") == b.values("others");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Words words;
  for (const std::string_view word : assay::split(text, '\n')) words.emplace_back(word);
  std::optional<Arguments> arguments;
  try {
    arguments = parse_options(command(), words);
  } catch (const assay::Error& error) {
    if (error.code() != assay::ErrorCode::usage || error.line().empty()) std::abort();
    return 0;
  }
  const Words again = written(*arguments);  // an Error from here on is a failure
  if (!same(*arguments, parse_options(command(), again))) std::abort();
  return 0;
}
