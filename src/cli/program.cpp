#include "cli/program.h"

#include <algorithm>
#include <charconv>
#include <new>
#include <optional>

#include "base/check.h"
#include "base/error.h"
#include "base/files.h"
#include "base/foreign_code.h"
#include "base/text.h"
#include "cli/command_list.h"
#include "cli/help/help.h"
#include "cli/models.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/parser.h"
#include "cli/options/remedies.h"
#include "cli/output_files.h"
#include "cli/peer.h"
#include "cli/streams.h"
#include "tasks/worker.h"

namespace assay::cli {
namespace {

using Words = std::vector<std::string>;

bool asks_for_help(std::string_view word) { return word == "-h" || word == "--help"; }
bool asks_for_version(std::string_view word) { return word == "-v" || word == "-V" || word == "--version"; }

int print(Environment& environment, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), environment.out);
  return kExitEqual;
}

// True if standard output is a model as text, which other text would spoil.
bool prints_model(const Arguments& arguments) {
  if (!arguments.knows("--show")) return false;
  const std::vector<std::string> shown = arguments.values("--show");
  return std::ranges::find(shown, "text") != shown.end();
}

void configure_log(const Arguments& arguments, Environment& environment) {
  if (!arguments.knows("--verbosity")) return;
  LogOptions options = log_options(arguments);
  options.all_to_stdout = is_called_as_peer(environment);
  options.text_to_stderr = json_on_stdout(arguments) || prints_model(arguments);
  environment.log.configure(std::move(options));
}

int print_list(std::string_view verb, Environment& environment) {
  return print(environment, help_list(verb, terminal_width(environment.out)));
}

// The words with options that stand between a verb and its sub-command moved behind the command's own, so that a list
// among them takes none of those: `surgeon -v extract ...`, `debug -v reduce ... --check COMMAND`.
Words with_command_first(std::span<const std::string> words) {
  Words moved(words.begin(), words.end());
  if (words.size() < 3 || !has_subcommands(words[0]) || !words[1].starts_with('-')) return moved;
  const auto is_command = [&](const std::string& word) { return has_subcommand(words[0], word); };
  const auto command = std::find_if(moved.begin() + 1, moved.end(), is_command);
  if (command == moved.end()) return moved;
  const Words name = {words[0], *command};
  const auto behind = command + 1;
  const size_t own = own_words(find_command(name).command, std::span(behind, moved.end()));
  std::rotate(moved.begin() + 1, command, behind + static_cast<std::ptrdiff_t>(own));
  return moved;
}

// Also handles words that name no command to run: help of the program or of a verb, and the version.
int dispatch(std::span<const std::string> words, Environment& environment) {
  const std::string first = words.empty() ? "" : words[0];
  if (asks_for_help(first)) return print_list("", environment);
  if (asks_for_version(first) || first == "version") {
    const Words version = {"version"};
    Words options(words.begin() + 1, words.end());
    std::erase_if(options, asks_for_version);
    return run_command(find_command(version).command, options, environment);
  }
  if (first.starts_with('-')) {
    fail(ErrorCode::usage, "option `{}` comes before the command; put it after (see `assay --help`)", first);
  }
  const bool is_verb = has_subcommands(first);
  if (is_verb && words.size() > 1 && asks_for_help(words[1])) return print_list(first, environment);
  if (words.empty() || (is_verb && words.size() == 1)) print_list(first, environment);
  const Words ordered = with_command_first(words);
  const FoundCommand found = find_command(ordered);
  return run_command(found.command, std::span(ordered).subspan(found.name_words), environment);
}

// The words with what goes without saying for the peer: data is made to fit what the model declares, and what plugins
// have written is overwritten.
Words with_implied(const Command& command, std::span<const std::string> words, const Environment& environment) {
  Words all(words.begin(), words.end());
  const auto writes_script = [](const std::string& word) { return word.starts_with("--gen-script"); };
  if (!is_called_as_peer(environment) || std::ranges::any_of(words, writes_script)) return all;
  const std::string_view implied = command.path.starts_with("plugin ") ? "--force" : "--fit-inputs";
  if (find_option(command, implied) != nullptr) {
    all.emplace(all.begin() + static_cast<std::ptrdiff_t>(own_words(command, words)), implied);
  }
  return all;
}

// FD of `assay --worker FD`, which is not for users.
std::optional<int> worker_socket(const Words& all) {
  if (all.size() != 3 || all[1] != "--worker") return std::nullopt;
  const char* end = all[2].data() + all[2].size();
  int socket = -1;
  const auto [stop, error] = std::from_chars(all[2].data(), end, socket);
  return error == std::errc() && stop == end ? std::optional(socket) : std::nullopt;
}

int run_parsed(const Command& command, const Arguments& arguments, Environment& environment) {
  try {
    check_output_files(arguments);
    configure_log(arguments, environment);
    for (const std::string& note : arguments.notes()) environment.log.warning(printable(note));
    return run_on_models(command, arguments, environment);
  } catch (const Error& error) {
    throw Error(error.code(), arguments.as_typed(line_of(error, arguments)));
  }
}

}  // namespace

int run_command(const Command& command, std::span<const std::string> words, Environment& environment) {
  const std::span<const std::string> options = words.first(own_words(command, words));
  if (std::ranges::any_of(options, asks_for_help)) {
    return print(environment, help_page(command, terminal_width(environment.out)));
  }
  try {
    const Arguments arguments = parse_options(command, with_implied(command, words, environment));
    if (arguments.flag("--help")) {
      return print(environment, help_page(command, terminal_width(environment.out)));
    }
    return run_parsed(command, arguments, environment);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage) throw;
    fail(ErrorCode::usage, "{} (see `assay {} --help`)", error.line(), command.path);
  }
}

int run_words(std::span<const std::string> words, Environment& environment) {
  return run_guarded([&] { return dispatch(words, environment); }, environment.log);
}

int run_guarded(const std::function<int()>& work, Log& log) {
  try {
    const int status = work();
    log.print_details();
    return status;
  } catch (const Error& error) {
    log.critical("error: " + error.line());
    log.print_details();
    return exit_status(error.code());
  } catch (const std::bad_alloc&) {
    log.critical("error: out of memory");
    return kExitUndecided;
  } catch (const std::exception& error) {
    log.critical(
        fmt::format("error: internal error: {}; this is a bug of assay: please report this line, the command and what "
                    "`assay --version` prints",
                    printable(error.what())));
    return kExitOurBug;
  }
}

// The words after the program's name; as `trtexec` it is `assay bench`.
Words words_behind(std::string_view program, const Words& all) {
  Words words(all.empty() ? all.end() : all.begin() + 1, all.end());
  if (program != "trtexec") return words;
  if (words.empty()) words.emplace_back("--help");
  words.insert(words.begin(), "bench");
  return words;
}

// The peer ends with 1 whatever is not well.
int status_for(const Environment& environment, int status) {
  const bool is_told_apart = status == kExitUsage || status == kExitUndecided;
  return is_called_as_peer(environment) && is_told_apart ? kExitDifferent : status;
}

// The program with the process's own streams; `kept` gets what need not be freed before the process ends.
int run_with_streams(const Words& all, std::vector<std::shared_ptr<const void>>& kept) {
  const std::string called = all.empty() ? "assay" : all[0];
  Log log(stdout, stderr);
  Environment environment = {.program = called.substr(called.rfind('/') + 1),
                             .command_line = join(all, " "),
                             .in = stdin,
                             .out = stdout,
                             .err = stderr,
                             .log = log};
  log.configure({.colors = colors_allowed(), .all_to_stdout = is_called_as_peer(environment)});
  const int status = status_for(environment, run_words(words_behind(environment.program, all), environment));
  kept = std::move(environment.kept);
  return finish_log(finish_stream(stdout, status, log), log);
}

int run_program(int argc, char** argv) {
  open_missing_streams();
  install_signal_handlers();
  const Words all(argv, argv + argc);
  if (const std::optional<int> socket = worker_socket(all)) return tasks::serve_worker(*socket);
  // A worker's crash is told by who started it.
  install_crash_handlers(" (with `run --isolate` each backend has a process of its own)");
  std::vector<std::shared_ptr<const void>> kept;
  const int status = run_with_streams(all, kept);
  if (kept.empty()) return status;
  std::fflush(nullptr);
  std::_Exit(status);  // the system frees at once what libraries would give back piece by piece
}

}  // namespace assay::cli
