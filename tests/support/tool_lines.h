#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include <fmt/core.h>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"

// Programs that answer each line of standard input with one line.
namespace assay::support {

// `error CODE: text` for what an input is to blame for, `bug: text` for everything else.
template <typename Fn>
std::string answer_or_failure(Fn&& fn) {
  static constexpr std::string_view kCodes[] = {"usage", "io", "parse", "unsupported", "shape", "backend", "limit"};
  try {
    return fn();
  } catch (const Error& error) {
    return fmt::format("error {}: {}", kCodes[static_cast<size_t>(error.code())], error.line());
  } catch (const std::exception& error) {
    return fmt::format("bug: {}: {}", typeid(error).name(), printable(error.what()));
  }
}

// A JSON document has no line breaks but those between its parts.
inline std::string one_line(const std::string& document) {
  std::string line;
  for (const std::string_view part : split(document, '\n')) {
    line += part.substr(std::min(part.find_first_not_of(' '), part.size()));
  }
  return line;
}

template <typename Fn>
void serve_lines(Fn&& answer) {
  char* line = nullptr;
  size_t capacity = 0;
  for (ssize_t size = 0; (size = getline(&line, &capacity, stdin)) > 0;) {
    const std::string_view text(line, static_cast<size_t>(size) - (line[size - 1] == '\n'));
    const std::string reply = answer_or_failure([&] { return answer(text); }) + '\n';
    std::fwrite(reply.data(), 1, reply.size(), stdout);
    std::fflush(stdout);
  }
  std::free(line);
}

}  // namespace assay::support
