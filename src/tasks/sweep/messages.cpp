#include "tasks/sweep/messages.h"

#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::tasks {
namespace {

size_t number_in(std::string_view text) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    fail(ErrorCode::parse, "expected a number, seen `{}`", printable(text));
  return number;
}

}  // namespace

std::string run_line(const UnitGroup& group) {
  return fmt::format("run {} {} {}", group.model, group.shard, fmt::join(group.columns, ","));
}

UnitGroup parse_run_line(std::string_view line) {
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.size() != 4 || words[0] != "run") fail(ErrorCode::parse, "expected `run`, seen `{}`", printable(line));
  UnitGroup group{number_in(words[1]), number_in(words[2]), {}};
  for (const std::string_view column : split(words[3], ',')) group.columns.push_back(number_in(column));
  return group;
}

}  // namespace assay::tasks
