#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "exec/backend.h"
#include "formats/tactic_replay.h"
#include "tasks/bisection.h"
#include "tasks/debug/check_loop.h"
#include "tasks/debug/comparing_judge.h"
#include "tasks/debug/subject.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

using debug::Subset;
using debug::Verdict;

formats::TacticReplay load_tactics(const std::string& path) {
  return with_frame([&] { return fmt::format("loading `{}`", printable(path)); },
                    [&] {
                      const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
                      const Bytes bytes = file->bytes();
                      return formats::parse_tactic_replay({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
                    });
}

class TacticSearch {
 public:
  TacticSearch(const TacticSearchRequest& request, const Subject& subject, Observer& observer)
      : request_(request),
        comparison_(request.comparison),
        model_(subject.loaded.model),
        values_(model_, subject.inputs, request.comparison.session.max_memory_bytes),
        good_(load_tactics(request.good_tactics)),
        bad_(load_tactics(request.bad_tactics)),
        replay_(folder_.path() / "tactics.json"),
        loop_(request.check, comparison_.backend.empty() ? request.artifact : "", observer) {
    if (request.keeps_artifact) loop_.keep_artifact();
    if (!comparison_.backend.empty()) comparing_.emplace(comparison_, model_, subject.inputs, &values_);
    for (const auto& [layer, tactic] : bad_) {
      const auto other = good_.find(layer);
      if (other != good_.end() && other->second != tactic) layers_.push_back(layer);
    }
  }

  results::TacticReport run() {
    report_.model = request_.model.path;
    report_.different_count = layers_.size();
    if (layers_.empty()) fail(ErrorCode::usage, "the two records have the same tactics for all layers that both name");
    Subset all(layers_.size());
    std::iota(all.begin(), all.end(), 0);
    report_.fails_before = judge({}) == Verdict::fails;
    report_.is_reproduced = !report_.fails_before && judge(all) == Verdict::fails;
    if (report_.is_reproduced) search();
    report_.loop = loop_.take();
    return std::move(report_);
  }

 private:
  void search() {
    const auto judge_all = [this](std::span<const Subset> subsets, uint64_t remaining) {
      std::vector<Verdict> verdicts;
      for (const Subset& subset : subsets) verdicts.push_back(judge(subset, remaining));
      return verdicts;
    };
    for (const uint32_t i : debug::minimize(static_cast<uint32_t>(layers_.size()), judge_all, {})) {
      report_.guilty.push_back({layers_[i], bad_.at(layers_[i]), good_.at(layers_[i])});
    }
  }

  // With the bad tactics for these layers alone.
  Verdict judge(const Subset& bad, std::optional<uint64_t> remaining = std::nullopt) {
    formats::TacticReplay mixed = good_;
    for (const uint32_t i : bad) mixed[layers_[i]] = bad_.at(layers_[i]);
    formats::save_tactic_replay(mixed, replay_);
    comparison_.session.settings.set("load-tactics", {replay_.string()});
    Trial trial{.subject = fmt::format("{} of {} tactics", bad.size(), layers_.size()),
                .identity = fmt::format("{} {}", command_identity(request_.check), fmt::join(bad, ","))};
    if (comparing_)
      trial.passes = [&] { return !comparing_->fails(model_); };
    else
      trial.make = [&](const std::string& path) {
        Diagnostics ignored;
        exec::plan_builder()->build_plan(model_, comparison_.session, path, ignored);
      };
    return loop_.judge(trial, remaining);
  }

  const TacticSearchRequest& request_;
  ComparisonRequest comparison_;
  const ir::Model& model_;
  ObservedValues values_;
  formats::TacticReplay good_;
  formats::TacticReplay bad_;
  TemporaryFolder folder_;
  std::filesystem::path replay_;
  CheckLoop loop_;
  std::optional<ComparingJudge> comparing_;
  std::vector<std::string> layers_;  // whose tactics differ
  results::TacticReport report_;
};

}  // namespace

results::TacticReport debug_tactics(const TacticSearchRequest& request, Observer& observer) {
  const Stopwatch total;
  const TaskThreads threads(request.comparison.session.threads);
  const Subject subject = open_subject(request.model, request.inputs, observer);
  results::TacticReport report = TacticSearch(request, subject, observer).run();
  report.timings = {{"load_seconds", subject.loaded.load_seconds}, {"total_seconds", total.seconds()}};
  return report;
}

}  // namespace assay::tasks
