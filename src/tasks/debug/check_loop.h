#pragma once

#include <span>

#include "base/stopwatch.h"
#include "debug/artifacts.h"
#include "debug/file_claim.h"
#include "debug/minimize.h"
#include "debug/replay.h"
#include "tasks/debug.h"

namespace assay::tasks {

// One thing to judge.
struct Trial {
  std::string subject;   // in words
  std::string identity;  // by its content, for replays
  std::optional<uint64_t> node_count;
  std::function<void(const std::string& path)> make = {};  // writes the artifact; null: there is none
  std::function<bool()> passes = {};                       // decides in this process; null: the request's check does
};

// A check by its content, for replays.
std::string command_identity(const CheckRequest& request);

// Makes, judges and sorts, round after round.
class CheckLoop {
 public:
  // `artifact` is the file that trials write. Error (usage) if it is there already, or for a check that cannot be.
  CheckLoop(const CheckRequest& request, std::string artifact, Observer& observer);

  // Unresolved is what cannot be made, or has an Error when it is judged. Several are judged at a time, where what
  // judges them is a program.
  std::vector<debug::Verdict> judge(std::span<const Trial> trials, std::optional<uint64_t> remaining = std::nullopt);
  debug::Verdict judge(const Trial& trial, std::optional<uint64_t> remaining = std::nullopt) {
    return judge(std::span(&trial, 1), remaining)[0];
  }
  // Rounds so far.
  uint64_t count() const { return loop_.iterations.size(); }
  // The reason for which the last unresolved round was one. Precondition: there was one.
  const Error& last_fault() const { return *last_fault_; }
  const results::DebugIteration& last_iteration() const { return loop_.iterations.back(); }
  void keep_artifact() { keeps_artifact_ = true; }
  // From now on a trial that cannot be made has failed.
  void count_faults_as_failures() { faults_fail_ = true; }
  results::DebugLoop take() { return std::move(loop_); }

 private:
  class Artifact;
  struct Round;

  Round begin(const Trial& trial, size_t slot, std::optional<uint64_t> remaining);
  bool replay(Round& round);
  void make(Round& round);
  void check(Round& round) const;
  static void decide(Round& round);
  void check_once(Round& round, const std::vector<std::string>& words) const;
  void write_info(const Round& round) const;
  void check_all(std::span<Round> rounds);
  void finish(Round& round);
  static debug::JudgedIteration judged(const Round& round);
  std::string artifact_of(size_t slot) const;
  std::vector<std::string> words_of(size_t slot) const;

  const CheckRequest& request_;
  std::string artifact_;
  Observer& observer_;
  std::vector<std::unique_ptr<debug::FileClaim>> claims_;
  debug::ArtifactSorter sorter_;
  debug::Replay old_;
  debug::ReplayWriter replay_;
  results::DebugLoop loop_;
  std::optional<Error> last_fault_;
  bool keeps_artifact_ = false;
  bool faults_fail_ = false;
  bool has_told_mismatch_ = false;
};

}  // namespace assay::tasks
