#include "exec/drive.h"

#include <algorithm>
#include <exception>
#include <future>
#include <map>
#include <new>
#include <variant>

#include "exec/sinks.h"

namespace assay::exec {
namespace {

// Hands values on as those of one runner and iteration. Saved results give everything at once: of theirs, only what
// belongs to the group passes, and what no group names passes with the first one. An exception of the watcher, which
// passes through the runner, is kept in `failure`.
class GroupSink final : public TensorSink {
 public:
  GroupSink(DriveWatcher& watcher, size_t runner, uint64_t iteration, std::exception_ptr& failure)
      : watcher_(watcher), at_(runner, iteration), failure_(failure) {}
  void select(const std::map<std::string_view, size_t>& groups, size_t group) {
    groups_ = &groups;
    group_ = group;
  }
  void accept(std::string_view name, const tensor::Datum& value) override {
    if (groups_ != nullptr) {
      const auto found = groups_->find(name);
      if ((found == groups_->end() ? 0 : found->second) != group_) return;
    }
    try {
      watcher_.on_value(at_.first, at_.second, name, value);
    } catch (...) {
      failure_ = std::current_exception();
      throw;
    }
  }

 private:
  DriveWatcher& watcher_;
  std::pair<size_t, uint64_t> at_;
  std::exception_ptr& failure_;
  const std::map<std::string_view, size_t>* groups_ = nullptr;
  size_t group_ = 0;
};

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

  // The results of a live runner that ran while others did.
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
        // Runs the work in a thread; if the system refuses one, when the result is asked for.
        constexpr std::launch kPolicy = std::launch::async | std::launch::deferred;
        batch.push_back(std::async(kPolicy, [this, i, group, r = live[n]] { return collect(r, i, group); }));
      }
      for (size_t n = 0; n < batch.size(); ++n) ahead_.insert_or_assign(live[begin + n], outcome_of(batch[n]));
    }
  }

  static std::variant<Ahead, Error> outcome_of(std::future<Ahead>& work) {
    try {
      return attempt([&] { return work.get(); });
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    }
  }

  Ahead collect(size_t r, uint64_t i, size_t group) {
    KeepingSink sink;
    warm_up(r, i, group);
    const std::optional<double> seconds = runners_[r]->run(i, states_[r].feeds, states_[r].taps[group], sink);
    return {.values = std::move(sink.values), .seconds = seconds};
  }

  std::optional<double> take_ahead(size_t r, TensorSink& sink) {
    std::variant<Ahead, Error> ahead = std::move(ahead_.at(r));
    ahead_.erase(r);
    if (const Error* error = std::get_if<Error>(&ahead)) throw *error;
    for (const tensor::NamedDatum& item : std::get<Ahead>(ahead).values) sink.accept(item.name, item.value);
    return std::get<Ahead>(ahead).seconds;
  }

  static Error out_of_memory() { return {ErrorCode::limit, "out of memory"}; }

  // Runs fn, which calls the runner; what it cannot do ends this runner only. Returns false then.
  template <typename Fn>
  bool try_runner(size_t r, Fn&& fn) {
    std::optional<Error> failure;
    try {
      fn();
      return true;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::cancelled || watcher_failure_) throw;
      failure = error;
    } catch (const std::bad_alloc&) {
      if (watcher_failure_) throw;
      failure = out_of_memory().add_frame(runners_[r]->name());
    }
    states_[r].failed = true;
    runners_[r]->close();
    watcher_.on_failure(r, *failure);
    return false;
  }

  // Wrong settings are a fault of the caller, and end everything.
  void open(size_t r) {
    watcher_.on_opening(r);
    std::optional<Error> misuse;
    const bool is_open = try_runner(r, [&] {
      try {
        runners_[r]->open(findings_);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) throw;
        misuse = error;
      }
    });
    if (misuse) throw Error(*misuse);
    if (!is_open) return;
    watcher_.on_opened(r);
    if (runners_[r]->is_live()) choose_taps(r);
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
    if (!more && !states_[r].failed) finish(r);
    return more;
  }

  void finish(size_t r) {
    if (!states_[r].failed && !states_[r].finished) watcher_.on_finished(r);
    states_[r].finished = true;
  }

  // True if there are inputs for this iteration; the last ones asked for are kept.
  bool load_feeds(size_t r, uint64_t i) {
    if (given_at_ != i) given_ = source_->get(i);
    given_at_ = i;
    State& state = states_[r];
    if (!given_ || state.fed == i) return given_.has_value();
    const bool is_first = i == 0 && !are_inputs_checked_;
    Diagnostics repeated;
    const bool fits = try_runner(
        r, [&] { state.feeds = check_feeds(runners_[r]->signature(), *given_, is_first ? findings_ : repeated); });
    are_inputs_checked_ = true;
    state.fed = i;
    return fits;
  }

  void run_group(size_t r, uint64_t i, size_t group) {
    if (!has_iteration(r, i)) return;
    State& state = states_[r];
    if (group == 0) start_iteration(r, i);
    GroupSink sink(watcher_, r, i, watcher_failure_);
    if (!runners_[r]->is_live() && plan_.taps.size() > 1) sink.select(group_of_, group);
    std::optional<double> seconds;
    const bool has_run = try_runner(r, [&] {
      const bool is_ahead = ahead_.contains(r);
      if (group == 0 && !is_ahead && runners_[r]->is_live()) warm_up(r, i, 0);
      seconds = is_ahead ? take_ahead(r, sink) : run_now(r, i, group, sink);
    });
    if (!has_run) return;
    state.has_seconds = state.has_seconds && seconds;
    state.seconds += seconds.value_or(0);
    if (group + 1 == plan_.taps.size()) {
      watcher_.on_iteration(r, i, state.has_seconds ? std::optional(state.seconds) : std::nullopt);
    }
  }

  std::optional<double> run_now(size_t r, uint64_t i, size_t group, TensorSink& sink) {
    static const std::vector<std::string> none;
    return runners_[r]->run(i, states_[r].feeds, runners_[r]->is_live() ? states_[r].taps[group] : none, sink);
  }

  void start_iteration(size_t r, uint64_t i) {
    states_[r].seconds = 0;
    states_[r].has_seconds = true;
    if (runners_[r]->is_live()) watcher_.on_feeds(r, i, states_[r].feeds);
  }

  void warm_up(size_t r, uint64_t i, size_t group) {
    IgnoringSink nothing;
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
  std::exception_ptr watcher_failure_;  // on its way through a runner
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
