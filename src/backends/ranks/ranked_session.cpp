#include "backends/ranks/ranked_session.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "backends/ranks/crew.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "exec/bound_outputs.h"

namespace assay::backends {
namespace {

// The sessions of all ranks, with their models.
struct RankSessions {
  RankModels models;
  std::vector<std::unique_ptr<exec::Session>> sessions;
  exec::Signature signature;
  RankSettings settings;

  int64_t count() const { return static_cast<int64_t>(sessions.size()); }
  const RankValue& at(std::string_view name) const {
    const auto found = models.values.find(name);
    if (found == models.values.end()) fail(ErrorCode::usage, "the ranks do not have the value `{}`", printable(name));
    return found->second;
  }
};

// Values that a rank gives in one run, by the names in its model.
class RankValues final : public exec::TensorSink {
 public:
  void accept(std::string_view name, const tensor::Datum& value) override { values_.emplace(name, value); }
  const tensor::Datum& at(const std::string& name) const { return values_.at(name); }

 private:
  std::map<std::string, tensor::Datum, std::less<>> values_;
};

// The feeds of each rank on its device.
struct FeedsOfRanks final : exec::HeldFeeds {
  std::vector<std::shared_ptr<exec::HeldFeeds>> of;
};

class RankedExecution final : public exec::Execution {
 public:
  RankedExecution(std::shared_ptr<const RankSessions> ranks, const exec::ExecutionOptions& options)
      : ranks_(std::move(ranks)),
        crew_(ranks_->count(), ranks_->settings.deadline_seconds, ranks_->settings.uses_library) {
    const auto made = std::make_shared<std::vector<std::unique_ptr<exec::Execution>>>();
    for (const auto& session : ranks_->sessions) made->push_back(session->make_execution(options));
    executions_ = made;
  }

  void run(std::span<const exec::Feed> feeds, std::span<const std::string> values, exec::TensorSink& sink) override {
    const auto work = std::make_shared<Work>(work_of(values));
    work->given.resize(executions_->size());
    for (int64_t rank = 0; rank < ranks_->count(); ++rank) work->feeds.push_back(feeds_of(feeds, rank));
    for (const std::string& value : values) {
      if (ranks_->at(value).split) work->split_names.push_back(ranks_->at(value).name);
    }
    crew_.run([work](int64_t rank) {
      const auto place = static_cast<size_t>(rank);
      const std::vector<std::string>& names = rank == 0 ? work->names : work->split_names;
      (*work->executions)[place]->run(work->feeds[place], names, work->given[place]);
    });
    for (const std::string& value : values) give(value, work->given, sink);
  }

  std::unique_ptr<exec::HeldFeeds> hold(std::span<const exec::Feed> feeds,
                                        std::span<const std::string> outputs) override {
    const auto work = std::make_shared<Work>(work_of(outputs));
    for (int64_t rank = 0; rank < ranks_->count(); ++rank) work->feeds.push_back(feeds_of(feeds, rank));
    work->held.resize(executions_->size());
    crew_.run([work](int64_t rank) {
      const auto place = static_cast<size_t>(rank);
      work->held[place] = (*work->executions)[place]->hold(work->feeds[place], work->names);
    });
    if (std::ranges::find(work->held, nullptr) != work->held.end()) return nullptr;
    auto made = std::make_unique<FeedsOfRanks>();
    made->of = work->held;
    return made;
  }
  void run(const exec::HeldFeeds& held, std::span<const std::string> outputs) override {
    const auto work = std::make_shared<Work>(work_of(outputs));
    work->held = dynamic_cast<const FeedsOfRanks&>(held).of;
    crew_.run([work](int64_t rank) {
      const auto place = static_cast<size_t>(rank);
      (*work->executions)[place]->run(*work->held[place], work->names);
    });
  }

  double seconds() const override {
    double longest = 0;
    for (const auto& execution : *executions_) longest = std::max(longest, execution->seconds());
    return longest;
  }
  // Layers of the first rank: all have the same ones.
  std::vector<exec::LayerSeconds> profile() const override { return executions_->front()->profile(); }
  bool profiles_each_run() const override { return executions_->front()->profiles_each_run(); }
  void bind(std::vector<exec::OutputBuffer> outputs) override { bound_.bind(std::move(outputs), ranks_->signature); }

 private:
  // Everything that the threads of ranks need, also if one is left behind.
  struct Work {
    std::shared_ptr<const RankSessions> ranks;
    std::shared_ptr<std::vector<std::unique_ptr<exec::Execution>>> executions;
    std::vector<std::vector<exec::Feed>> feeds;
    std::vector<std::shared_ptr<exec::HeldFeeds>> held;
    std::vector<std::string> names;
    std::vector<std::string> split_names;  // of which each rank has a part; others are those of the first
    std::vector<RankValues> given;
  };

  Work work_of(std::span<const std::string> values) const {
    Work work;
    work.ranks = ranks_;
    work.executions = executions_;
    std::set<std::string> names;
    for (const std::string& value : values) names.insert(ranks_->at(value).name);
    work.names.assign(names.begin(), names.end());
    return work;
  }

  std::vector<exec::Feed> feeds_of(std::span<const exec::Feed> feeds, int64_t rank) const {
    std::vector<exec::Feed> own(feeds.begin(), feeds.end());
    for (exec::Feed& feed : own) {
      const auto split = ranks_->models.inputs.find(feed.name);
      if (split == ranks_->models.inputs.end()) continue;
      feed.value = part_of(feed.value, split->second, feed.name, rank, ranks_->count());
    }
    return own;
  }

  void give(const std::string& name, const std::vector<RankValues>& given, exec::TensorSink& sink) const {
    const RankValue& value = ranks_->at(name);
    if (!value.split) return sink.accept(name, bound_.placed(name, given.front().at(value.name)));
    std::vector<tensor::Datum> parts;
    for (const RankValues& rank : given) parts.push_back(rank.at(value.name));
    sink.accept(name, bound_.placed(name, joined(parts, *value.split, name)));
  }

  std::shared_ptr<const RankSessions> ranks_;
  std::shared_ptr<std::vector<std::unique_ptr<exec::Execution>>> executions_;
  Crew crew_;
  exec::BoundOutputs bound_;
};

class RankedSession final : public exec::Session {
 public:
  RankedSession(std::shared_ptr<const RankSessions> ranks, std::string description, unsigned threads)
      : ranks_(std::move(ranks)), description_(std::move(description)), threads_(threads) {}

  const exec::Signature& signature() const override { return ranks_->signature; }
  std::string description() const override { return description_; }

  exec::TapAnswer answer(std::string_view value) const override {
    const auto found = ranks_->models.values.find(value);
    if (found == ranks_->models.values.end()) return {exec::TapAnswer::Kind::absent, "", "no rank has it"};
    return ranks_->sessions.front()->answer(found->second.name);
  }

  std::unique_ptr<exec::Execution> make_execution(const exec::ExecutionOptions& options) const override {
    exec::ExecutionOptions own = options;
    const unsigned all = options.threads != 0 ? options.threads : threads_ != 0 ? threads_ : thread_count();
    own.threads = std::max(1U, all / static_cast<unsigned>(ranks_->count()));
    own.times_device = own.times_additions = false;
    return std::make_unique<RankedExecution>(ranks_, own);
  }

 private:
  std::shared_ptr<const RankSessions> ranks_;
  std::string description_;
  unsigned threads_;
};

exec::SessionOptions options_of(const exec::SessionOptions& all, const RankSettings& ranks, const RankModels& models,
                                size_t rank) {
  exec::SessionOptions own = options_of_rank(all, ranks, rank);
  own.path.clear();
  std::set<std::string> names;
  for (const std::string& value : all.values) {
    if (const auto found = models.values.find(value); found != models.values.end()) names.insert(found->second.name);
  }
  own.values.assign(names.begin(), names.end());
  return own;
}

class SessionOfEach final : public exec::Session {
 public:
  explicit SessionOfEach(std::vector<std::unique_ptr<exec::Session>> sessions) : sessions_(std::move(sessions)) {}
  const exec::Signature& signature() const override { return sessions_.front()->signature(); }
  exec::TapAnswer answer(std::string_view value) const override { return sessions_.front()->answer(value); }
  std::string description() const override { return sessions_.front()->description(); }
  std::unique_ptr<exec::Execution> make_execution(const exec::ExecutionOptions& options) const override {
    return sessions_[next_++ % sessions_.size()]->make_execution(options);
  }

 private:
  std::vector<std::unique_ptr<exec::Session>> sessions_;
  mutable std::atomic<size_t> next_ = 0;
};

}  // namespace

exec::SessionOptions options_of_rank(const exec::SessionOptions& all, const RankSettings& ranks, size_t rank) {
  exec::SessionOptions own = all;
  if (rank != 0) own.on_layer = nullptr;
  if (!ranks.devices.empty()) own.settings.set("device", {ranks.devices[rank % ranks.devices.size()]});
  return own;
}

std::unique_ptr<exec::Session> make_session_of_each(std::vector<std::unique_ptr<exec::Session>> sessions) {
  return std::make_unique<SessionOfEach>(std::move(sessions));
}

std::unique_ptr<exec::Session> make_ranked_session(const exec::Backend& backend, const ir::Model& model,
                                                   const RankSettings& ranks, const exec::SessionOptions& options,
                                                   Diagnostics& findings) {
  auto made = std::make_shared<RankSessions>();
  made->models = make_rank_models(model, ranks.words, ranks.paths);
  made->signature = exec::signature_of(model);
  made->settings = ranks;
  for (size_t rank = 0; rank < made->models.models.size(); ++rank) {
    Diagnostics told_before;
    Diagnostics& told = rank == 0 ? findings : told_before;
    const exec::SessionOptions own = options_of(options, ranks, made->models, rank);
    with_frame([&] { return fmt::format("rank {}", rank); },
               [&] { made->sessions.push_back(backend.prepare(*made->models.models[rank], own, told)); });
  }
  std::string description = made->sessions.front()->description();
  return std::make_unique<RankedSession>(std::move(made), std::move(description), options.threads);
}

}  // namespace assay::backends
