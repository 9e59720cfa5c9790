#include "cli/command_list.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"

namespace assay::cli {
namespace {

struct VerbSummary {
  std::string_view verb, summary;
};

// Verbs with sub-commands; a test holds this against the listing.
constexpr std::array kVerbSummaries = {
    VerbSummary{"check", "find what is wrong with a model, and what can run it"},
    VerbSummary{"data", "combine and convert files of inputs and outputs"},
    VerbSummary{"debug", "find what makes a model fail"},
    VerbSummary{"docs", "print the manual in other forms"},
    VerbSummary{"inspect", "show what is in a model or in a file of tensors"},
    VerbSummary{"multi-device", "split a model over devices"},
    VerbSummary{"plugin", "find subgraphs that plugins can replace, and replace them"},
    VerbSummary{"surgeon", "change a model: cut, insert, fold, prune, strip"},
    VerbSummary{"sweep", "run many models on several backends over a data set"},
    VerbSummary{"template", "write starting points for scripts"},
};

// The words by which a registered file is called: `inspect/diff_tactics` -> `inspect`, `diff-tactics`.
std::vector<std::string> call_words(std::string_view path) {
  std::string text(path);
  std::ranges::replace(text, '_', '-');
  const std::vector<std::string_view> parts = split(text, '/');
  return {parts.begin(), parts.end()};
}

// Distinct words that may stand at `position` behind `verb` (or at the start, if it is empty).
std::vector<std::string> words_after(std::string_view verb) {
  std::vector<std::string> words;
  for (const Registered<Command>& entry : registered_commands()) {
    const std::vector<std::string> call = call_words(entry.path);
    const size_t position = verb.empty() ? 0 : 1;
    const bool fits = verb.empty() || (call.size() > 1 && call[0] == verb);
    const bool hidden = verb.empty() && entry.make().hidden;
    if (fits && !hidden && std::ranges::find(words, call[position]) == words.end()) words.push_back(call[position]);
  }
  return words;
}

[[noreturn]] void fail_unknown(std::string_view what, std::string_view verb, std::string_view word) {
  const std::vector<std::string> known = words_after(verb);
  const std::optional<std::string> near = did_you_mean(word, known);
  if (near) fail(ErrorCode::usage, "unknown {} `{}`; did you mean `{}`?", what, word, *near);
  fail(ErrorCode::usage, "unknown {} `{}`; expected one of {}", what, word, join(known, ", "));
}

}  // namespace

std::vector<Command> all_commands(bool with_hidden) {
  std::vector<Command> commands;
  for (const Registered<Command>& entry : registered_commands()) {
    Command command = entry.make();
    if (with_hidden || !command.hidden) commands.push_back(std::move(command));
  }
  return commands;
}

bool has_subcommands(std::string_view verb) {
  const auto is_verb_itself = [&](const Registered<Command>& entry) { return entry.path == verb; };
  if (std::ranges::any_of(registered_commands(), is_verb_itself)) return false;
  return std::ranges::any_of(registered_commands(), [&](const Registered<Command>& entry) {
    const std::vector<std::string> call = call_words(entry.path);
    return call.size() > 1 && call[0] == verb;
  });
}

bool has_subcommand(std::string_view verb, std::string_view word) {
  const std::vector<std::string> words = words_after(verb);
  return has_subcommands(verb) && std::ranges::find(words, word) != words.end();
}

std::string_view verb_summary(std::string_view verb) {
  const auto found = std::ranges::find(kVerbSummaries, verb, &VerbSummary::verb);
  return found == kVerbSummaries.end() ? std::string_view() : found->summary;
}

FoundCommand find_command(std::span<const std::string> words) {
  if (words.empty()) fail(ErrorCode::usage, "missing command; expected one of {}", join(words_after(""), ", "));
  const Registered<Command>* longest = nullptr;  // `sweep report` and `sweep` are both commands
  size_t length = 0;
  for (const Registered<Command>& entry : registered_commands()) {
    const std::vector<std::string> call = call_words(entry.path);
    const bool fits = call.size() <= words.size() && std::ranges::equal(call, words.first(call.size()));
    if (!fits || call.size() <= length) continue;
    longest = &entry;
    length = call.size();
  }
  if (longest != nullptr) return {longest->make(), length};
  const std::string& verb = words[0];
  if (!has_subcommands(verb)) fail_unknown("command", "", verb);
  if (words.size() == 1 || words[1].starts_with('-')) {
    fail(ErrorCode::usage, "missing command after `{}`; expected one of {}", verb, join(words_after(verb), ", "));
  }
  fail_unknown(fmt::format("command of `{}`", verb), verb, words[1]);
}

}  // namespace assay::cli
