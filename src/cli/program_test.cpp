#include "cli/program.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <new>

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/command_list.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "support/captured_environment.h"

namespace assay::cli {
namespace {

using Words = std::vector<std::string>;

struct Outcome {
  int status;
  std::string out, err;
};

Outcome run(const Words& words) {
  CapturedEnvironment captured;
  const int status = run_words(words, captured.environment);
  return {status, captured.out(), captured.err()};
}

TEST(Program, help_lists_the_commands_on_standard_output) {
  for (const Words& words : {Words{"help"}, Words{"--help"}, Words{"-h"}}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.out.find("\n  completion "), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("\n  docs "), std::string::npos) << "hidden";
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(Program, help_of_a_command_in_all_forms) {
  const Outcome outcome = run({"help", "completion"});
  EXPECT_TRUE(outcome.out.starts_with("usage: assay completion [options] SHELL\n")) << outcome.out;
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(run({"completion", "--help"}).out, outcome.out);
  EXPECT_EQ(run({"completion", "-h"}).out, outcome.out);
  EXPECT_EQ(run({"completion", "--hel"}).out, outcome.out);
  EXPECT_EQ(run({"completion", "--nonsense", "-h"}).out, outcome.out);
}

TEST(Program, help_of_a_verb_lists_its_commands) {
  const Outcome outcome = run({"help", "docs"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.out.starts_with("usage: assay docs COMMAND [options]\n")) << outcome.out;
  EXPECT_NE(outcome.out.find("\n  man "), std::string::npos);
  EXPECT_EQ(run({"docs", "--help"}).out, outcome.out);
}

TEST(Program, a_missing_command_is_wrong_usage_and_shows_the_list) {
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.err.starts_with("[!] error: missing command; expected one of ")) << outcome.err;
  EXPECT_EQ(outcome.out, run({"help"}).out);
  const Outcome verb = run({"docs"});
  EXPECT_EQ(verb.status, 2);
  EXPECT_EQ(verb.err, "[!] error: missing command after `docs`; expected one of cli, man\n");
}

TEST(Program, unknown_commands_get_a_suggestion) {
  EXPECT_EQ(run({"verison"}).err, "[!] error: unknown command `verison`; did you mean `version`?\n");
  EXPECT_EQ(run({"verison"}).status, 2);
  EXPECT_EQ(run({"docs", "mna"}).err, "[!] error: unknown command of `docs` `mna`; did you mean `man`?\n");
  EXPECT_EQ(run({"help", "verison"}).status, 2);
  EXPECT_EQ(run({""}).status, 2);
}

TEST(Program, version_in_all_forms) {
  const Outcome outcome = run({"version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.out.starts_with("assay ")) << outcome.out;
  EXPECT_NE(outcome.out.find("\nfmt "), std::string::npos);
  for (const char* word : {"--version", "-v", "-V"}) EXPECT_EQ(run({word}).out, outcome.out);
  const Outcome json = run({"--version", "--json"});
  EXPECT_TRUE(json.out.starts_with("{\n  \"schema\": \"assay/version/1\",\n")) << json.out;
  EXPECT_EQ(run({"--version", "--json", "-"}).out, json.out);
}

TEST(Program, wrong_words_are_one_line_and_status_2) {
  const Outcome outcome = run({"version", "--jsno"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "[!] error: unknown option `--jsno`; did you mean `--json`? (see `assay version --help`)\n");
  EXPECT_EQ(run({"version", "x\ny"}).err, "[!] error: unexpected word `x y` (see `assay version --help`)\n");
  EXPECT_EQ(run({"--silent", "version"}).status, 2);
}

TEST(Program, abbreviations_are_said_on_standard_error) {
  const Outcome outcome = run({"version", "--js"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "[W] `--js` is read as `--json`\n");
}

TEST(Program, failures_of_a_command_become_a_line_and_a_status) {
  const auto outcome_of = [](int (*fn)(const Arguments&, Environment&)) {
    CapturedEnvironment captured;
    const Command command = {.path = "x", .run = fn};
    const int status = run_guarded([&] { return run_command(command, {}, captured.environment); }, captured.log);
    return Outcome{status, captured.out(), captured.err()};
  };
  const Outcome io = outcome_of([](const Arguments&, Environment&) -> int { fail(ErrorCode::io, "no `f`"); });
  EXPECT_EQ(io.status, 2);
  EXPECT_EQ(io.err, "[!] error: no `f`\n");
  const Outcome limit = outcome_of([](const Arguments&, Environment&) -> int { throw std::bad_alloc(); });
  EXPECT_EQ(limit.status, 3);
  EXPECT_EQ(limit.err, "[!] error: out of memory\n");
  const Outcome bug = outcome_of([](const Arguments&, Environment&) -> int {
    ASSAY_CHECK(1 + 1 == 3);
    return 0;
  });
  EXPECT_EQ(bug.status, 70);
  EXPECT_NE(bug.err.find("1 + 1 == 3; this is a bug of assay: please report"), std::string::npos) << bug.err;
  EXPECT_EQ(outcome_of([](const Arguments&, Environment&) { return 1; }).status, 1);
}

Outcome run_talker(const Words& words) {
  const Command command = {
      .path = "talk",
      .groups = {logging_group(), json_group()},
      .run =
          [](const Arguments& arguments, Environment& environment) {
            environment.log.info("result");
            environment.log.verbose("more");
            if (wants_json(arguments)) write_json(arguments, environment, "{}\n");
            return 0;
          },
  };
  CapturedEnvironment captured;
  const int status = run_command(command, words, captured.environment);
  return {status, captured.out(), captured.err()};
}

TEST(Program, logging_options_take_effect_before_the_command_runs) {
  EXPECT_EQ(run_talker({}).out, "[I] result\n");
  EXPECT_EQ(run_talker({"-v"}).err, "[V] more\n");
  EXPECT_EQ(run_talker({"-q"}).out, "");
  EXPECT_EQ(run_talker({"--extra-verbose"}).err, "[W] `--extra-verbose` is read as `-v`\n[V] more\n");
  EXPECT_EQ(run_talker({"--extra-verbose", "--silent"}).err, "");
}

TEST(Program, a_report_on_standard_output_drives_all_text_away) {
  const Outcome outcome = run_talker({"--json", "-"});
  EXPECT_EQ(outcome.out, "{}\n");
  EXPECT_EQ(outcome.err, "[I] result\n");
}

TEST(Program, a_report_in_a_file_leaves_the_text) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "assay_program_test.json";
  EXPECT_EQ(run_talker({"--json", path.string()}).out, "[I] result\n");
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "{}\n");
  std::filesystem::remove(path);
}

// The table of every command, hidden ones too.
TEST(Commands, tables_are_sound) {
  for (const Command& command : all_commands(true)) {
    SCOPED_TRACE(command.path);
    EXPECT_NE(command.run, nullptr);
    EXPECT_FALSE(command.summary.empty());
    std::vector<std::string_view> names;
    for (const OptionRow* row : all_options(command)) {
      names.insert(names.end(), row->names.begin(), row->names.end());
      EXPECT_TRUE(row->hidden || !row->help.empty()) << canonical_name(*row);
      for (const std::string_view name : row->names) EXPECT_TRUE(name.starts_with('-')) << name;
    }
    for (const OptionRow& row : command.positionals) {
      EXPECT_FALSE(row.help.empty());
      EXPECT_EQ(row.names.size(), 1u);
      names.insert(names.end(), row.names.begin(), row.names.end());
    }
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    EXPECT_EQ(twice, names.end()) << "`" << *twice << "` twice";
  }
}

TEST(Commands, spellings_lead_to_options_that_exist) {
  for (const Command& command : all_commands(true)) {
    for (const OptionGroup& group : command.groups) {
      for (const Spelling& spelling : group.spellings) {
        EXPECT_NE(spelling.words.empty(), spelling.reason.empty()) << spelling.option;
        for (const std::string_view word : spelling.words) {
          const bool exists = !word.starts_with('-') || find_option(command, word) != nullptr;
          EXPECT_TRUE(exists) << command.path << ": " << word;
        }
      }
    }
  }
}

TEST(Commands, are_called_by_their_place_in_the_folder) {
  for (const Command& command : all_commands(true)) {
    Words words;
    for (const std::string_view word : split(command.path, ' ')) words.emplace_back(word);
    EXPECT_EQ(find_command(words).command.path, command.path);
    EXPECT_TRUE(words.size() == 1 || !verb_summary(words[0]).empty()) << words[0];
  }
}

}  // namespace
}  // namespace assay::cli
