#include "cli/options/groups/logging.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/options/parser.h"

namespace assay::cli {
namespace {

using Words = std::vector<std::string>;

LogOptions options_of(const Words& words) {
  const Command command = {.path = "x", .groups = {logging_group()}};
  return log_options(parse_options(command, words));
}

TEST(LoggingGroup, flags_count_up_and_down) {
  const std::vector<std::pair<Words, LogLevel>> cases = {
      {{}, LogLevel::info},
      {{"-v"}, LogLevel::verbose},
      {{"-vv"}, LogLevel::extra_verbose},
      {{"--verbose", "--extra-verbose"}, LogLevel::extra_verbose},
      {{"-vvv"}, LogLevel::super_verbose},
      {{"-vvvv"}, LogLevel::ultra_verbose},
      {{"-vvvvvvvvv"}, LogLevel::ultra_verbose},
      {{"-q"}, LogLevel::start},
      {{"-qq"}, LogLevel::finish},
      {{"-qqq"}, LogLevel::warning},
      {{"-qqqq"}, LogLevel::error},
      {{"-qqqqq"}, LogLevel::critical},
      {{"-qqqqqqqqq"}, LogLevel::critical},
      {{"-vvq"}, LogLevel::verbose},
  };
  for (const auto& [words, level] : cases) EXPECT_EQ(options_of(words).level, level) << words.size();
}

TEST(LoggingGroup, verbosity_outranks_the_flags) {
  EXPECT_EQ(options_of({"-vvv", "--verbosity", "WARNING"}).level, LogLevel::warning);
  EXPECT_EQ(options_of({"--verbosity", "warning", "-vvv"}).level, LogLevel::warning);
  EXPECT_EQ(options_of({"-v", "--verbosity", "onnx:error"}).level, LogLevel::verbose);
}

TEST(LoggingGroup, levels_by_path) {
  const LogOptions options = options_of({"--verbosity", "error", "onnx:Verbose", "a:b:info"});
  EXPECT_EQ(options.level, LogLevel::error);
  ASSERT_EQ(options.levels_by_path.size(), 2u);
  EXPECT_EQ(options.levels_by_path[0], (std::pair<std::string, LogLevel>("onnx", LogLevel::verbose)));
  EXPECT_EQ(options.levels_by_path[1], (std::pair<std::string, LogLevel>("a:b", LogLevel::info)));
}

TEST(LoggingGroup, silent_outranks_everything) {
  const LogOptions options = options_of({"--silent", "-vv", "--verbosity", "info", "onnx:info"});
  EXPECT_EQ(options.level, LogLevel::critical);
  EXPECT_TRUE(options.levels_by_path.empty());
}

TEST(LoggingGroup, an_unknown_level_is_refused_with_a_suggestion) {
  try {
    options_of({"--verbosity", "onnx:warnign"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(error.line(), "option `--verbosity`: unknown value `warnign`; did you mean `warning`?");
  }
}

TEST(LoggingGroup, formats_and_file) {
  const LogOptions options = options_of({"--log-format", "timestamp", "line-info", "--log-file", "x.log"});
  EXPECT_TRUE(options.timestamps);
  EXPECT_TRUE(options.line_info);
  EXPECT_EQ(options.file, "x.log");
  EXPECT_FALSE(options_of({}).timestamps);
}

TEST(LoggingGroup, colours_can_be_refused_in_two_ways) {
  unsetenv("NO_COLOR");
  EXPECT_TRUE(options_of({}).colors);
  EXPECT_FALSE(options_of({"--log-format", "no-colors"}).colors);
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(options_of({}).colors);
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(options_of({}).colors);
  unsetenv("NO_COLOR");
}

}  // namespace
}  // namespace assay::cli
