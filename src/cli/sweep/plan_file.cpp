#include "cli/sweep/plan_file.h"

#include <algorithm>

#include "base/error.h"
#include "base/paths.h"
#include "base/read_text.h"
#include "base/text.h"
#include "base/yaml.h"

namespace assay::cli {
namespace {

std::vector<std::string> known_words(const Command& command) {
  std::vector<std::string> words;
  for (const OptionGroup& group : command.groups) {
    for (const OptionRow& row : group.rows) {
      const std::string_view name = canonical_name(row);
      if (name.starts_with("--") && !row.hidden) words.emplace_back(name.substr(2));
    }
  }
  return words;
}

const OptionRow& row_of(const YamlEntry& entry, const Command& command) {
  std::string name = entry.key;
  std::ranges::replace(name, '_', '-');
  const OptionRow* const row = find_option(command, "--" + name);
  if (row != nullptr && !row->hidden) return *row;
  const std::optional<std::string> near = did_you_mean(name, known_words(command));
  fail(ErrorCode::usage, "line {}: unknown word `{}`{}", entry.value.line, printable(entry.key),
       near ? fmt::format("; did you mean `{}`?", *near) : "; a plan has the words of the options of `assay sweep`");
}

void add_value(const YamlNode& node, std::vector<std::string>& words) {
  if (node.kind != YamlNode::Kind::scalar) fail(ErrorCode::usage, "line {}: expected a text or a number", node.line);
  words.push_back(node.text);
}

void add_entry(const YamlEntry& entry, const OptionRow& row, std::vector<std::string>& words) {
  const bool is_flag = row.arity == Arity::flag;
  if (is_flag && entry.value.text != "true" && entry.value.text != "false")
    fail(ErrorCode::usage, "line {}: `{}` is true or false", entry.value.line, printable(entry.key));
  if (is_flag && entry.value.text == "false") return;
  words.emplace_back(canonical_name(row));
  if (is_flag) return;
  if (entry.value.kind != YamlNode::Kind::list) return add_value(entry.value, words);
  for (const YamlNode& item : entry.value.items) add_value(item, words);
}

// A plan that is not there may be a misspelt command.
void check_plan(const std::string& path) {
  const std::vector<std::string> commands = {"status", "report", "merge", "retry"};
  const std::optional<std::string> near = is_there(path) ? std::nullopt : did_you_mean(path, commands);
  if (near) fail(ErrorCode::usage, "there is no plan `{}`; did you mean `assay sweep {}`?", printable(path), *near);
}

std::vector<std::string> words_of_plan(const std::string& path, const Command& command, const Arguments& arguments) {
  const std::vector<YamlNode> documents = parse_yaml(read_text(path));
  if (documents.size() != 1 || documents[0].kind != YamlNode::Kind::map)
    fail(ErrorCode::usage, "expected words with their values, as `models: zoo/*.onnx`");
  std::vector<std::string> words;
  for (const YamlEntry& entry : documents[0].entries) {
    const OptionRow& row = row_of(entry, command);
    if (!arguments.has(canonical_name(row))) add_entry(entry, row, words);
  }
  return words;
}

}  // namespace

std::vector<std::string> words_with_plan(const Command& command, const Arguments& arguments) {
  std::vector<std::string> words;
  if (arguments.has("plan")) {
    const std::string path = arguments.value("plan");
    check_plan(path);
    words = with_frame([&] { return fmt::format("plan `{}`", printable(path)); },
                       [&] { return words_of_plan(path, command, arguments); });
  }
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    const std::string_view name = canonical_name(*use.row);
    if (name == "plan") continue;
    words.emplace_back(name);
    words.insert(words.end(), use.values.begin(), use.values.end());
  }
  return words;
}

}  // namespace assay::cli
