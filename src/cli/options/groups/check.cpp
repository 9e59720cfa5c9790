#include "cli/options/groups/check.h"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/values.h"
#include "cli/peer.h"

namespace assay::cli {
namespace {

std::vector<int64_t> parse_codes(const Arguments& arguments, std::string_view option) {
  std::vector<int64_t> codes;
  for (const std::string& text : arguments.values(option)) codes.push_back(parse_integer(option, text));
  return codes;
}

std::optional<char> read_answer(std::FILE* in) {
  std::string line;
  int c = std::fgetc(in);
  for (; c != EOF && c != '\n'; c = std::fgetc(in)) line += static_cast<char>(c);
  if (c == EOF && line.empty()) {
    fail(ErrorCode::usage,
         "standard input ended before it said whether the iteration passed; --check names a command "
         "that decides");
  }
  const size_t begin = line.find_first_not_of(" \t");
  const char answer = begin == std::string::npos ? ' ' : line[begin];
  if (answer == 'p' || answer == 'P') return 'p';
  if (answer == 'f' || answer == 'F') return 'f';
  return std::nullopt;
}

// Asks until the answer is one.
bool ask(const std::string& subject, Environment& environment) {
  const std::string shown = subject.find(' ') == std::string::npos ? fmt::format("'{}'", printable(subject)) : subject;
  std::string prompt = fmt::format("Did {} [p]ass or [f]ail? ", shown);
  for (;;) {
    fmt::print(environment.out, ">>> {}", prompt);
    std::fflush(environment.out);
    if (const std::optional<char> answer = read_answer(environment.in)) return *answer == 'p';
    prompt = "Please choose either: 'p' or 'f': ";
  }
}

OptionRow until_row() {
  return {.names = {"--until"},
          .metavar = "{good,bad,N}",
          .help = "when to end: at the first iteration that passes, at the first that fails, or after N",
          .required = true};
}

std::vector<OptionRow> artifact_rows(const CheckWords& words) {
  std::vector<OptionRow> rows = {
      {.names = {"--artifacts"},
       .arity = Arity::one_or_more,
       .metavar = "PATH",
       .help = "files or folders that an iteration leaves: each is moved to good/ or bad/ by its verdict"},
      {.names = {"--artifacts-dir", "--art-dir"},
       .metavar = "FOLDER",
       .default_value = "polygraphy_artifacts",
       .help = "where good/ and bad/ are",
       .is_file = true},
      {.names = {"--iteration-info", "--iter-info"},
       .metavar = "FILE",
       .help = "a JSON file that tells a check the number of its iteration, counted from 0; removed behind it",
       .is_file = true,
       .is_output = true}};
  if (!words.artifact.empty()) {
    rows.push_back({.names = {"--intermediate-artifact", "--iter-artifact"},
                    .metavar = "FILE",
                    .default_value = words.artifact,
                    .help = "the file that is checked"});
    rows.push_back(
        {.names = {"--no-remove-intermediate"}, .arity = Arity::flag, .help = "keep the last of these files"});
  }
  if (!words.replays) return rows;
  rows.push_back({.names = {"--load-debug-replay"},
                  .metavar = "FILE",
                  .help = "take the verdicts of iterations that were judged earlier from this file"});
  rows.push_back({.names = {"--save-debug-replay"},
                  .metavar = "FILE",
                  .default_value = "polygraphy_debug_replay.json",
                  .help = "where they are saved, after every iteration",
                  .is_file = true,
                  .is_output = true});
  rows.push_back({.names = {"--resume"},
                  .arity = Arity::flag,
                  .help = "go on where an earlier call ended: load what --save-debug-replay names, if it is there, and "
                          "overwrite what that "
                          "call has left of the file that is checked"});
  return rows;
}

std::vector<OptionRow> verdict_rows(const CheckWords& words) {
  std::vector<OptionRow> rows;
  if (words.has_until) rows.push_back(until_row());
  const auto codes = [](std::vector<std::string_view> names, std::string_view help) {
    return OptionRow{.names = std::move(names), .arity = Arity::one_or_more, .metavar = "N", .help = help};
  };
  rows.push_back(codes({"--fail-returncode", "--fail-code"},
                       "exit codes that are failures, minus the number of a signal for one that a signal ended; "
                       "default: all but 0"));
  rows.push_back(codes({"--ignore-fail-returncode", "--ignore-fail-code"}, "exit codes that always pass"));
  rows.push_back({.names = {"--fail-regex"},
                  .arity = Arity::one_or_more,
                  .metavar = "PATTERN",
                  .help = "what the check prints where it fails: any of these decides; with --fail-returncode, both do",
                  .details = "Regular expressions, searched line by line in both streams."});
  rows.push_back({.names = {"--show-output"}, .arity = Arity::flag, .help = "also show what checks print that pass"});
  rows.push_back({.names = {"--hide-fail-output"}, .arity = Arity::flag, .help = "show nothing of checks that fail"});
  rows.push_back({.names = {"--timeout"},
                  .metavar = "SECONDS",
                  .help = "end a check that takes longer, with all that it started; it has failed then"});
  rows.push_back({.names = {"--repeat-check"},
                  .metavar = "N",
                  .default_value = "1",
                  .help = "run each check so often; it fails if any does, and disagreement is said"});
  if (words.has_jobs) {
    rows.push_back({.names = {"--jobs"},
                    .metavar = "N",
                    .default_value = "1",
                    .help = "checks at a time; their words name the file of each in place of the first one's"});
  }
  rows.push_back({.names = {"--check", "--check-inference"},
                  .arity = Arity::rest,
                  .metavar = "COMMAND...",
                  .help = "the command that decides whether an iteration passed, with all words that follow; without "
                          "it you are asked"});
  return rows;
}

void exclude(const Arguments& arguments, std::string_view one, std::string_view other) {
  if (arguments.has(one) && arguments.has(other)) fail(ErrorCode::usage, "{} and {} exclude each other", one, other);
}

void read_repetition(const Arguments& arguments, tasks::CheckRequest& request) {
  if (arguments.has("--timeout")) {
    request.timeout_seconds = parse_number("--timeout", arguments.value("--timeout"));
    if (!(request.timeout_seconds > 0)) fail(ErrorCode::usage, "--timeout: expected seconds above 0");
  }
  request.repeats = parse_count("--repeat-check", arguments.value("--repeat-check"), 1);
  if (!arguments.knows("--jobs")) return;
  request.jobs = parse_count("--jobs", arguments.value("--jobs"), 1);
  if (request.jobs == 1) return;
  if (request.command.empty()) fail(ErrorCode::usage, "--jobs needs --check: you are asked one by one");
  for (const std::string_view name : {"--artifacts", "--iteration-info"}) exclude(arguments, name, "--jobs");
}

void read_replays(const Arguments& arguments, tasks::CheckRequest& request) {
  request.load_replay = arguments.value("--load-debug-replay");
  request.save_replay = arguments.value("--save-debug-replay");
  const bool resumes = arguments.flag("--resume") && request.load_replay.empty();
  request.resumes = resumes && access(request.save_replay.c_str(), F_OK) == 0;
  if (request.resumes) request.load_replay = request.save_replay;
}

}  // namespace

std::vector<OptionGroup> check_groups(const CheckWords& words) {
  return {
      {.title = "Iterations", .description = "What is kept of each", .rows = artifact_rows(words), .spellings = {}},
      {.title = "Check", .description = "Whether an iteration passed", .rows = verdict_rows(words), .spellings = {}}};
}

tasks::CheckRequest check_request(const Arguments& arguments, Environment& environment) {
  exclude(arguments, "--fail-returncode", "--ignore-fail-returncode");
  exclude(arguments, "--show-output", "--hide-fail-output");
  tasks::CheckRequest request;
  request.command = arguments.values("--check");
  request.ask = [&environment](const std::string& subject) { return ask(subject, environment); };
  request.rules =
      debug::CheckRules(parse_codes(arguments, "--fail-returncode"), parse_codes(arguments, "--ignore-fail-returncode"),
                        arguments.values("--fail-regex"));
  read_repetition(arguments, request);
  request.artifacts = arguments.values("--artifacts");
  request.artifacts_folder = arguments.value("--artifacts-dir");
  request.iteration_info = arguments.value("--iteration-info");
  if (arguments.knows("--save-debug-replay")) read_replays(arguments, request);
  request.resumes |= is_called_as_peer(environment);  // the peer overwrites what exists
  if (request.command.empty()) {
    environment.log.info("Starting interactive debugging session since no `--check` command was provided");
  }
  return request;
}

tasks::CheckRequest replay_request(const Arguments& arguments) {
  tasks::CheckRequest request;
  read_replays(arguments, request);
  if (!arguments.has("--save-debug-replay")) request.save_replay.clear();
  return request;
}

tasks::Until parse_until(const Arguments& arguments) {
  const std::string text = arguments.value("--until");
  if (text == "good") return {tasks::UntilKind::good};
  if (text == "bad") return {tasks::UntilKind::bad};
  if (!begins_like_number(text))
    fail(ErrorCode::usage, "--until: expected good, bad or a number, seen `{}`", printable(text));
  const int64_t count = parse_integer("--until", text);
  return {tasks::UntilKind::count, static_cast<uint64_t>(std::max<int64_t>(count, 1))};
}

}  // namespace assay::cli
