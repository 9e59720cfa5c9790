#include "cli/options/groups/logging.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

// Loudest first.
constexpr std::array kLevels = {
    LogLevel::ultra_verbose, LogLevel::super_verbose, LogLevel::extra_verbose, LogLevel::verbose, LogLevel::info,
    LogLevel::start,         LogLevel::finish,        LogLevel::warning,       LogLevel::error,   LogLevel::critical};
constexpr std::array<std::string_view, kLevels.size()> kLevelNames = {
    "ultra_verbose", "super_verbose", "extra_verbose", "verbose", "info",
    "start",         "finish",        "warning",       "error",   "critical"};
constexpr long kInfo = 4;  // index of `info`

LogLevel level_named(std::string_view name) {
  const auto found = std::ranges::find(kLevelNames, to_lower(name));
  if (found == kLevelNames.end()) fail_choice("--verbosity", name, kLevelNames);
  return kLevels[static_cast<size_t>(found - kLevelNames.begin())];
}

LogLevel level_counted(size_t louder, size_t quieter) {
  const long steps =
      static_cast<long>(std::min<size_t>(louder, 100)) - static_cast<long>(std::min<size_t>(quieter, 100));
  return kLevels[static_cast<size_t>(std::clamp<long>(kInfo - steps, 0, kLevels.size() - 1))];
}

}  // namespace

bool colors_allowed() {
  const char* const no_color = std::getenv("NO_COLOR");
  return no_color == nullptr || *no_color == '\0';
}

OptionGroup logging_group() {
  return {
      .title = "Logging",
      .description = "What is printed, and where to",
      .rows =
          {
              {.names = {"-v", "--verbose"},
               .arity = Arity::flag,
               .repeat = Repeat::count,
               .help = "print more; each further one adds a level, up to four"},
              {.names = {"-q", "--quiet"},
               .arity = Arity::flag,
               .repeat = Repeat::count,
               .help = "print less; each further one drops a level, up to five"},
              {.names = {"--verbosity"},
               .arity = Arity::one_or_more,
               .metavar = "[PATH:]LEVEL",
               .help = "the level by name, for all messages or for those of one source folder or file",
               .details = "Levels are ultra_verbose, super_verbose, extra_verbose, verbose, info, start, finish, "
                          "warning, error and critical, in upper or lower case. PATH is relative to the source "
                          "folder, as `onnx` or `onnx/import.cpp`; the longest PATH that fits decides. A level "
                          "without PATH outranks -v and -q."},
              {.names = {"--silent"}, .arity = Arity::flag, .help = "print critical errors only"},
              {.names = {"--log-format"},
               .arity = Arity::one_or_more,
               .choices = {"timestamp", "line-info", "no-colors"},
               .help = "add the time of day or the place in the source to each message, or leave out colours",
               .details = "Colours are used on terminals only, and not where NO_COLOR is set."},
              {.names = {"--log-file"},
               .metavar = "FILE",
               .help = "write a copy of all messages to FILE, without colours",
               .is_file = true,
               .is_output = true},
          },
      .spellings = {{.option = "--extra-verbose", .words = {"-v"}}},
  };
}

LogOptions log_options(const Arguments& arguments) {
  LogOptions options;
  options.level = level_counted(arguments.count("--verbose"), arguments.count("--quiet"));
  for (const std::string& text : arguments.values("--verbosity")) {
    const KeyValue setting = split_key_value(text);
    const LogLevel level = level_named(setting.value);
    if (setting.key.empty())
      options.level = level;
    else
      options.levels_by_path.emplace_back(setting.key, level);
  }
  if (arguments.flag("--silent")) {
    options.level = LogLevel::critical;
    options.levels_by_path.clear();
  }
  const std::vector<std::string> formats = arguments.values("--log-format");
  const auto has_format = [&](std::string_view name) { return std::ranges::find(formats, name) != formats.end(); };
  options.timestamps = has_format("timestamp");
  options.line_info = has_format("line-info");
  options.colors = colors_allowed() && !has_format("no-colors");
  options.file = arguments.value("--log-file");
  return options;
}

}  // namespace assay::cli
