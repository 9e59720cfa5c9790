#include "tasks/debug/check_loop.h"

#include <filesystem>
#include <thread>

#include "base/checksum.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/signal_tables.h"
#include "base/text.h"

namespace assay::tasks {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostIterations = 100'000;

std::string replaced(std::string text, std::string_view old_text, std::string_view new_text) {
  for (size_t at = text.find(old_text); at != std::string::npos; at = text.find(old_text, at + new_text.size())) {
    text.replace(at, old_text.size(), new_text);
  }
  return text;
}

// The state of a file, which tells if a check changed it.
struct FileState {
  bool is_there = false;
  uintmax_t size = 0;
  fs::file_time_type time;
  bool operator==(const FileState&) const = default;
};

FileState state_of(const std::string& path) {
  std::error_code ignored;
  FileState state;
  state.is_there = fs::is_regular_file(path, ignored);
  if (!state.is_there) return state;
  state.size = fs::file_size(path, ignored);
  state.time = fs::last_write_time(path, ignored);
  return state;
}

}  // namespace

std::string command_identity(const CheckRequest& request) {
  std::string words;
  for (const std::string& word : request.command) words += word + '\0';
  return fmt::format("{:016x}", checksum(std::as_bytes(std::span(words))));
}

// A file written by a trial, removed after the round, also if a signal or an error ends the loop.
class CheckLoop::Artifact {
 public:
  Artifact(std::string path, bool is_kept) : path_(std::move(path)), is_kept_(is_kept) {
    if (!is_kept_) slot_ = remember_temporary(path_.c_str());
  }
  ~Artifact() {
    if (is_kept_) return;
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    forget_temporary(slot_);
  }
  Artifact(const Artifact&) = delete;
  Artifact& operator=(const Artifact&) = delete;

 private:
  std::string path_;
  bool is_kept_;
  int slot_ = -1;
};

struct CheckLoop::Round {
  const Trial* trial = nullptr;
  size_t slot = 0;
  std::string artifact;
  std::unique_ptr<Artifact> written;
  std::string key;
  results::DebugIteration iteration;
  results::CheckOutput output;
  std::optional<Error> error;  // of the check itself
  std::optional<Error> fault;  // of the trial
  bool has_changed_file = false;
  Stopwatch since;
  bool is_settled() const { return iteration.is_replayed || !iteration.fault.empty(); }
};

namespace {

// An Error that speaks of the trial, and not of the user's words or files, makes the round one without a verdict.
template <typename Round, typename Fn>
void try_to(Round& round, Fn&& fn) {
  try {
    fn();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io || error.code() == ErrorCode::usage || error.code() == ErrorCode::cancelled)
      throw;
    round.iteration.fault = error.line();
    round.fault = error;
  }
}

}  // namespace

CheckLoop::CheckLoop(const CheckRequest& request, std::string artifact, Observer& observer)
    : request_(request),
      artifact_(std::move(artifact)),
      observer_(observer),
      sorter_(request.artifacts, request.artifacts_folder),
      replay_(request.save_replay) {
  if (!request_.command.empty()) {
    with_frame([] { return std::string("the check"); }, [&] { debug::find_program(request_.command[0]); });
  }
  for (size_t slot = 0; slot < request_.jobs && !artifact_.empty(); ++slot) {
    try {
      claims_.push_back(std::make_unique<debug::FileClaim>(artifact_of(slot)));
    } catch (Error& error) {
      throw Error(error).about("intermediate_artifact");
    }
    if (request_.resumes || !fs::exists(artifact_of(slot))) continue;
    throw Error(ErrorCode::usage,
                fmt::format("`{}` is there already and would be overwritten: move it, or name another "
                            "file for what is checked",
                            printable(artifact_of(slot))))
        .about("intermediate_artifact");
  }
  if (!request_.load_replay.empty()) old_ = debug::load_replay(request_.load_replay);
}

std::string CheckLoop::artifact_of(size_t slot) const {
  if (slot == 0) return artifact_;
  const fs::path path = artifact_;
  return (path.parent_path() / fmt::format("{}_{}{}", path.stem().string(), slot + 1, path.extension().string()))
      .string();
}

std::vector<std::string> CheckLoop::words_of(size_t slot) const {
  std::vector<std::string> words = request_.command;
  if (slot == 0) return words;
  for (std::string& word : words) word = replaced(std::move(word), artifact_, artifact_of(slot));
  return words;
}

CheckLoop::Round CheckLoop::begin(const Trial& trial, size_t slot, std::optional<uint64_t> remaining) {
  Round round;
  round.trial = &trial;
  round.slot = slot;
  round.artifact = artifact_.empty() ? "" : artifact_of(slot);
  round.iteration.index = count() + slot;
  round.iteration.subject = trial.subject;
  round.key = fmt::format("_N{}", round.iteration.index);
  observer_.on_iteration(round.iteration, remaining);
  return round;
}

bool CheckLoop::replay(Round& round) {
  const auto known = old_.find(round.key);
  if (known == old_.end()) return false;
  if (!known->second.subject.empty() && known->second.subject != round.trial->identity) {
    if (!has_told_mismatch_) observer_.warning("the debug replay is about another model or check: it is not used");
    has_told_mismatch_ = true;
    return false;
  }
  observer_.info(fmt::format("Loading iteration information from debug replay: success={}",
                             known->second.passed ? "True" : "False"));
  round.iteration.is_replayed = true;
  round.iteration.passed = known->second.passed;
  return true;
}

void CheckLoop::make(Round& round) {
  if (!round.trial->make) return;
  round.written = std::make_unique<Artifact>(round.artifact, keeps_artifact_ && round.slot == 0);
  try_to(round, [&] { round.trial->make(round.artifact); });
}

void CheckLoop::decide(Round& round) {
  try_to(round, [&] { round.iteration.passed = round.trial->passes(); });
}

void CheckLoop::check_once(Round& round, const std::vector<std::string>& words) const {
  debug::CommandResult result = debug::run_command(words, request_.timeout_seconds);
  const bool has_failed = result.is_late || request_.rules.is_failure(result);
  const bool is_first = !round.iteration.status;
  round.iteration.is_flaky = round.iteration.is_flaky || (!is_first && round.iteration.passed == has_failed);
  round.iteration.is_late = round.iteration.is_late || result.is_late;
  if (!is_first && !has_failed) return;
  round.iteration.passed = !has_failed;
  round.iteration.status = result.status;
  round.output = {std::move(result.out), std::move(result.err), result.is_cut};
}

void CheckLoop::check(Round& round) const {
  const std::vector<std::string> words = words_of(round.slot);
  for (uint64_t i = 0; i < request_.repeats; ++i) {
    const FileState before = state_of(round.artifact);
    check_once(round, words);
    if (round.artifact.empty() || state_of(round.artifact) == before) continue;
    round.has_changed_file = true;
    if (i + 1 < request_.repeats) round.trial->make(round.artifact);
  }
}

debug::JudgedIteration CheckLoop::judged(const Round& round) {
  return {round.iteration.index, round.iteration.passed || !round.iteration.fault.empty(), round.trial->node_count,
          round.trial->identity};
}

void CheckLoop::finish(Round& round) {
  results::DebugIteration& iteration = round.iteration;
  if (round.error) throw Error(*round.error);
  iteration.seconds = round.since.seconds();
  iteration.is_unresolved = !iteration.fault.empty() && !faults_fail_;
  observer_.on_iteration_judged(iteration, round.output);
  if (round.has_changed_file) {
    observer_.warning(fmt::format("the check changed or removed `{}`", printable(round.artifact)));
  }
  if (!round.is_settled()) {
    for (const std::string& fault : sorter_.sort(iteration.passed, round.key))
      observer_.on_message(LogLevel::error, fault, std::source_location::current());
  }
  // A round without a verdict is not a failure to come back to.
  replay_.add(round.key, judged(round));
  if (round.fault) last_fault_ = round.fault;
  round.written.reset();
  loop_.passed_count += iteration.passed ? 1 : 0;
  loop_.unresolved_count += iteration.is_unresolved ? 1 : 0;
  loop_.iterations.push_back(iteration);
}

void CheckLoop::write_info(const Round& round) const {
  if (request_.iteration_info.empty()) return;
  JsonWriter json;
  json.begin_object();
  json.field("iteration", round.iteration.index);
  json.end_object();
  OutputFile file(request_.iteration_info);
  file.write(json.text());
  file.commit();
}

// In threads: what they run is a program.
void CheckLoop::check_all(std::span<Round> rounds) {
  std::vector<std::thread> threads;
  for (Round& round : rounds) {
    if (round.is_settled()) continue;
    // So that a crash of the check can be passed over by loading the file.
    replay_.note_current(round.key, judged(round));
    write_info(round);
    if (round.trial->passes) {
      decide(round);
      continue;
    }
    if (request_.command.empty()) {
      round.iteration.passed = request_.ask(round.artifact.empty() ? "this iteration" : round.artifact);
      continue;
    }
    threads.emplace_back([this, &round] {
      const std::variant<std::monostate, Error> checked = attempt([&] {
        check(round);
        return std::monostate();
      });
      if (const Error* error = std::get_if<Error>(&checked)) round.error = *error;
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::error_code ignored;
  if (!request_.iteration_info.empty()) fs::remove(request_.iteration_info, ignored);
}

std::vector<debug::Verdict> CheckLoop::judge(std::span<const Trial> trials, std::optional<uint64_t> remaining) {
  check_cancelled(observer_);
  if (count() + trials.size() > kMostIterations) {
    fail(ErrorCode::limit, "there were {} iterations, and it would go on", kMostIterations);
  }
  std::vector<Round> rounds;
  for (size_t slot = 0; slot < trials.size(); ++slot) {
    rounds.push_back(begin(trials[slot], slot, remaining));
    if (!replay(rounds.back())) make(rounds.back());
  }
  check_all(rounds);
  std::vector<debug::Verdict> verdicts;
  for (Round& round : rounds) {
    finish(round);
    const bool is_unresolved = !round.iteration.fault.empty();
    verdicts.push_back(is_unresolved            ? debug::Verdict::unresolved
                       : round.iteration.passed ? debug::Verdict::passes
                                                : debug::Verdict::fails);
  }
  return verdicts;
}

}  // namespace assay::tasks
