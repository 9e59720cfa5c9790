// Reads lines {"options": [{"names", "arity", "repeat", "choices", "required"}], "positionals": [{"name", "arity"}],
// "words": [...]} from standard input, parses the words by that table, and writes a line for each: {"values": {name:
// [[...], ...]}} with the values of each use, or {"error": text}. For tests/interop/argparse_test.py.
#include <cstdio>
#include <deque>
#include <memory>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "base/check.h"
#include "base/error.h"
#include "cli/options/parser.h"

namespace {

using assay::cli::Arguments;
using assay::cli::Arity;
using assay::cli::Command;
using assay::cli::OptionGroup;
using assay::cli::OptionRow;
using assay::cli::Repeat;
using Json = rapidjson::Value;
using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

std::string_view text_of(const Json& value) { return {value.GetString(), value.GetStringLength()}; }

Arity arity_of(std::string_view text) {
  if (text == "flag") return Arity::flag;
  if (text == "?") return Arity::optional;
  if (text == "+") return Arity::one_or_more;
  return text == "*" ? Arity::any : Arity::one;
}

Repeat repeat_of(std::string_view text) {
  if (text == "append") return Repeat::append;
  return text == "count" ? Repeat::count : Repeat::last;
}

// The texts of the rows stay in the document.
Command command_of(const Json& table) {
  Command command = {.path = "test"};
  OptionGroup group;
  for (const Json& option : table["options"].GetArray()) {
    OptionRow row;
    for (const Json& name : option["names"].GetArray()) row.names.push_back(text_of(name));
    for (const Json& choice : option["choices"].GetArray()) row.choices.push_back(text_of(choice));
    row.arity = arity_of(text_of(option["arity"]));
    row.repeat = repeat_of(text_of(option["repeat"]));
    row.required = option["required"].GetBool();
    group.rows.push_back(row);
  }
  command.groups.push_back(group);
  for (const Json& positional : table["positionals"].GetArray()) {
    command.positionals.push_back(
        {.names = {text_of(positional["name"])}, .arity = arity_of(text_of(positional["arity"]))});
  }
  return command;
}

void write_values(Writer& writer, std::string_view name, const Arguments& arguments) {
  writer.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  writer.StartArray();
  for (const std::vector<std::string>& use : arguments.occurrences(name)) {
    writer.StartArray();
    for (const std::string& value : use) writer.String(value.c_str());
    writer.EndArray();
  }
  writer.EndArray();
}

void write_outcome(Writer& writer, const Command& command, const std::vector<std::string>& words) {
  const Arguments arguments = parse_options(command, words);
  writer.StartObject();
  writer.Key("values");
  writer.StartObject();
  for (const OptionRow* row : all_options(command)) write_values(writer, canonical_name(*row), arguments);
  for (const OptionRow& row : command.positionals) write_values(writer, canonical_name(row), arguments);
  writer.EndObject();
  writer.EndObject();
}

std::string answer(const std::string& line) {
  rapidjson::Document table;
  table.Parse(line.c_str());
  ASSAY_CHECK(!table.HasParseError());
  std::vector<std::string> words;
  for (const Json& word : table["words"].GetArray()) words.emplace_back(text_of(word));
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  try {
    write_outcome(writer, command_of(table), words);
  } catch (const assay::Error& error) {
    writer.StartObject();
    writer.Key("error");
    writer.String(error.line().c_str());
    writer.EndObject();
  }
  return buffer.GetString();
}

}  // namespace

int main() {
  std::string line;
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    std::puts(answer(line).c_str());
    line.clear();
  }
  return 0;
}
