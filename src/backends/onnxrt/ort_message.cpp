#include <array>

#include "backends/onnxrt/ort_library.h"
#include "base/text.h"

namespace assay::backends::ort {
namespace {

// The end of the bracket that opens at `begin`; the end of the text if it never closes.
size_t behind_bracket(std::string_view text, size_t begin) {
  int depth = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i + 1;
  }
  return text.size();
}

// The beginning of a place in the library's sources, as `/path/file.cc:181 type function(types) [with T = type] `.
size_t find_place(std::string_view line) {
  const size_t file = std::min(line.find(".cc:"), line.find(".h:"));
  if (file == std::string_view::npos) return file;
  const size_t blank = line.find_last_of(' ', file);
  return line.find('/', blank == std::string_view::npos ? 0 : blank);
}

std::string without_place(std::string_view line) {
  const size_t begin = find_place(line);
  const size_t bracket = begin == std::string_view::npos ? begin : line.find('(', begin);
  if (bracket == std::string_view::npos) return std::string(line);
  std::string_view rest = line.substr(behind_bracket(line, bracket));
  if (rest.starts_with("::<lambda()>")) rest.remove_prefix(12);
  if (rest.starts_with(" const")) rest.remove_prefix(6);
  if (rest.starts_with(" [with ")) rest.remove_prefix(std::min(rest.find("] "), rest.size() - 1) + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.empty()) return std::string(line);
  const bool needs_blank = begin > 0 && line[begin - 1] != ' ';
  return std::string(line.substr(0, begin)) + (needs_blank ? " " : "") + std::string(rest);
}

}  // namespace

std::string plain_message(std::string_view message) {
  for (const std::string_view line : split(message, '\n')) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin != std::string_view::npos) return printable(without_place(line.substr(begin)));
  }
  return "it failed without a message";
}

std::string unregistered_op(std::string_view message) {
  const size_t end = message.find(") is not a registered function/op");
  if (end == std::string_view::npos) return {};
  const size_t bracket = message.rfind('(', end);
  if (bracket == std::string_view::npos) return {};
  const size_t blank = message.find_last_of(' ', bracket);
  const size_t begin = blank == std::string_view::npos ? 0 : blank + 1;
  return std::string(message.substr(begin, bracket - begin));
}

std::string node_in_message(std::string_view message) {
  struct Form {
    std::string_view before;
    char end;
  };
  constexpr std::array kForms = {Form{"Name:'", '\''}, Form{"with name '", '\''}, Form{"Node (", ')'},
                                 Form{"node (", ')'}, Form{"Node:", ' '}};
  for (const Form& form : kForms) {
    const size_t begin = message.find(form.before);
    if (begin == std::string_view::npos) continue;
    const std::string_view rest = message.substr(begin + form.before.size());
    return std::string(rest.substr(0, rest.find(form.end)));
  }
  return {};
}

}  // namespace assay::backends::ort
