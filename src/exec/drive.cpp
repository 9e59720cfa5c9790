#include "exec/drive.h"

#include <algorithm>
#include <future>
#include <map>
#include <variant>

namespace assay::exec {
namespace {

// Hands values on as those of one runner and iteration. Saved results give everything at once: of theirs, only what
// belongs to the group passes, and what no group names passes with the first one.
class GroupSink final : public TensorSink {
 public:
  GroupSink(DriveWatcher& watcher, size_t runner, uint64_t iteration) : watcher_(watcher), at_(runner, iteration) {}
  void select(const std::map<std::string_view, size_t>& groups, size_t group) {
    groups_ = &groups;
    group_ = group;
  }
  void accept(std::string_view name, const tensor::Datum& value) override {
    if (groups_ != nullptr) {
      const auto found = groups_->find(name);
      if ((found == groups_->end() ? 0 : found->second) != group_) return;
    }
    watcher_.on_value(at_.first, at_.second, name, value);
  }

 private:
  DriveWatcher& watcher_;
  std::pair<size_t, uint64_t> at_;
  const std::map<std::string_view, size_t>* groups_ = nullptr;
  size_t group_ = 0;
};

class CollectingSink final : public TensorSink {
 public:
  explicit CollectingSink(tensor::NamedData& values) : values_(values) {}
  void accept(std::string_view name, const tensor::Datum& value) override {
    values_.push_back({std::string(name), value});
  }

 private:
  tensor::NamedData& values_;
};

class NullSink final : public TensorSink {
 public:
  void accept(std::string_view, const tensor::Datum&) override {}
};

// Whether an error is the fault of a backend, and not of the inputs or of who watches.
bool ends_runner(ErrorCode code) {
  return code == ErrorCode::unsupported || code == ErrorCode::backend || code == ErrorCode::limit;
}

class Driver {
 public:
  Driver(std::span<const RunnerPtr> runners, DataSource* source, const DrivePlan& plan, DriveWatcher& watcher,
         Diagnostics& findings)
      : runners_(runners),
        source_(source),
        plan_(plan),
        watcher_(watcher),
        findings_(findings),
        states_(runners.size()) {
    for (size_t group = 0; group < plan.taps.size(); ++group) {
      for (const std::string& name : plan.taps[group]) group_of_.emplace(name, group);
    }
  }

  void run_sequentially() {
    for (size_t r = 0; r < runners_.size() && !watcher_.wants_stop(); ++r) {
      open(r);
      for (uint64_t i = 0; has_iteration(r, i) && !watcher_.wants_stop(); ++i) {
        for (size_t group = 0; group < plan_.taps.size(); ++group) run_group(r, i, group);
      }
      finish(r);
      if (!states_[r].failed && r + 1 < runners_.size()) runners_[r]->close();
    }
  }

  void run_side_by_side() {
    for (size_t r = 0; r < runners_.size(); ++r) open(r);
    bool is_more = true;
    for (uint64_t i = 0; is_more && !watcher_.wants_stop(); ++i) {
      is_more = false;
      for (size_t r = 0; r < runners_.size(); ++r) is_more = has_iteration(r, i) || is_more;
      for (size_t group = 0; is_more && group < plan_.taps.size(); ++group) {
        if (plan_.jobs > 1) run_ahead(i, group);
        for (size_t r = 0; r < runners_.size(); ++r) run_group(r, i, group);
      }
    }
    for (size_t r = 0; r < runners_.size(); ++r) finish(r);
  }

 private:
  struct State {
    bool failed = false;
    bool finished = false;
    double seconds = 0;
    bool has_seconds = true;
    TapPlan taps;  // of a live runner: the values that it has
    std::vector<Feed> feeds;
    std::optional<uint64_t> fed;  // the iteration that the feeds are for
  };

  // What a live runner gave while others ran too.
  struct Ahead {
    tensor::NamedData values;
    std::optional<double> seconds;
  };

  // Runs all live runners, some at a time; what they give is handed on in order by run_group.
  void run_ahead(uint64_t i, size_t group) {
    std::vector<size_t> live;
    for (size_t r = 0; r < runners_.size(); ++r) {
      if (has_iteration(r, i) && runners_[r]->is_live()) live.push_back(r);
    }
    for (size_t begin = 0; begin < live.size(); begin += plan_.jobs) {
      std::vector<std::future<Ahead>> batch;
      for (size_t n = begin; n < std::min<size_t>(begin + plan_.jobs, live.size()); ++n) {
        // Where the system refuses a thread, the work is done when its result is asked for.
        constexpr std::launch kPolicy = std::launch::async | std::launch::deferred;
        batch.push_back(std::async(kPolicy, [this, i, group, r = live[n]] { return collect(r, i, group); }));
      }
      for (size_t n = 0; n < batch.size(); ++n) {
        ahead_.insert_or_assign(live[begin + n], attempt([&] { return batch[n].get(); }));
      }
    }
  }

  Ahead collect(size_t r, uint64_t i, size_t group) {
    Ahead ahead;
    CollectingSink sink(ahead.values);
    warm_up(r, i, group);
    ahead.seconds = runners_[r]->run(i, states_[r].feeds, states_[r].taps[group], sink);
    return ahead;
  }

  std::optional<double> take_ahead(size_t r, TensorSink& sink) {
    std::variant<Ahead, Error> ahead = std::move(ahead_.at(r));
    ahead_.erase(r);
    if (const Error* error = std::get_if<Error>(&ahead)) throw *error;
    for (const tensor::NamedDatum& item : std::get<Ahead>(ahead).values) sink.accept(item.name, item.value);
    return std::get<Ahead>(ahead).seconds;
  }

  // Runs fn; what a backend cannot do ends its runner only.
  template <typename Fn>
  void try_runner(size_t r, Fn&& fn) {
    try {
      fn();
    } catch (const Error& error) {
      if (!ends_runner(error.code())) throw;
      states_[r].failed = true;
      runners_[r]->close();
      watcher_.on_failure(r, error);
    }
  }

  void open(size_t r) {
    watcher_.on_opening(r);
    try_runner(r, [&] {
      runners_[r]->open(findings_);
      watcher_.on_opened(r);
      if (runners_[r]->is_live()) choose_taps(r);
    });
  }

  void choose_taps(size_t r) {
    for (const std::vector<std::string>& group : plan_.taps) {
      std::vector<std::string>& chosen = states_[r].taps.emplace_back();
      for (const std::string& value : group) {
        const TapAnswer answer = runners_[r]->answer(value);
        if (answer.kind != TapAnswer::Kind::given) watcher_.on_answer(r, value, answer);
        if (answer.kind != TapAnswer::Kind::absent) chosen.push_back(value);
      }
    }
  }

  bool has_iteration(size_t r, uint64_t i) {
    if (states_[r].failed || states_[r].finished) return false;
    const bool more = runners_[r]->is_live() ? load_feeds(r, i) : i < *runners_[r]->iterations();
    if (!more) finish(r);
    return more;
  }

  void finish(size_t r) {
    if (!states_[r].failed && !states_[r].finished) watcher_.on_finished(r);
    states_[r].finished = true;
  }

  // Whether there are inputs for this iteration; the last ones asked for are kept.
  bool load_feeds(size_t r, uint64_t i) {
    if (given_at_ != i) given_ = source_->get(i);
    given_at_ = i;
    State& state = states_[r];
    if (given_ && state.fed != i) {
      const bool is_first = i == 0 && !are_inputs_checked_;
      Diagnostics repeated;
      state.feeds = check_feeds(runners_[r]->signature(), *given_, is_first ? findings_ : repeated);
      are_inputs_checked_ = true;
      state.fed = i;
    }
    return given_.has_value();
  }

  void run_group(size_t r, uint64_t i, size_t group) {
    if (!has_iteration(r, i)) return;
    Runner& runner = *runners_[r];
    State& state = states_[r];
    try_runner(r, [&] {
      if (group == 0) start_iteration(r, i, !ahead_.contains(r));
      GroupSink sink(watcher_, r, i);
      if (!runner.is_live() && plan_.taps.size() > 1) sink.select(group_of_, group);
      const std::optional<double> seconds = ahead_.contains(r) ? take_ahead(r, sink) : run_now(r, i, group, sink);
      state.has_seconds = state.has_seconds && seconds;
      state.seconds += seconds.value_or(0);
      if (group + 1 == plan_.taps.size()) {
        watcher_.on_iteration(r, i, state.has_seconds ? std::optional(state.seconds) : std::nullopt);
      }
    });
  }

  std::optional<double> run_now(size_t r, uint64_t i, size_t group, TensorSink& sink) {
    static const std::vector<std::string> none;
    return runners_[r]->run(i, states_[r].feeds, runners_[r]->is_live() ? states_[r].taps[group] : none, sink);
  }

  void start_iteration(size_t r, uint64_t i, bool is_cold) {
    states_[r].seconds = 0;
    states_[r].has_seconds = true;
    if (!runners_[r]->is_live()) return;
    watcher_.on_feeds(r, i, states_[r].feeds);
    if (is_cold) warm_up(r, i, 0);
  }

  void warm_up(size_t r, uint64_t i, size_t group) {
    NullSink nothing;
    const uint64_t runs = i == 0 && group == 0 ? plan_.warm_up : 0;
    for (uint64_t n = 0; n < runs; ++n) runners_[r]->run(i, states_[r].feeds, states_[r].taps.front(), nothing);
  }

  std::span<const RunnerPtr> runners_;
  DataSource* source_;
  const DrivePlan& plan_;
  DriveWatcher& watcher_;
  Diagnostics& findings_;
  std::vector<State> states_;
  std::map<std::string_view, size_t> group_of_;
  std::map<size_t, std::variant<Ahead, Error>> ahead_;  // by runner
  std::optional<tensor::NamedData> given_;
  std::optional<uint64_t> given_at_;
  bool are_inputs_checked_ = false;
};

}  // namespace

void drive(std::span<const RunnerPtr> runners, DataSource* source, const DrivePlan& plan, DriveWatcher& watcher,
           Diagnostics& findings) {
  Driver driver(runners, source, plan, watcher, findings);
  if (plan.is_sequential)
    driver.run_sequentially();
  else
    driver.run_side_by_side();
}

}  // namespace assay::exec
