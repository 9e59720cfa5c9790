#include <algorithm>
#include <map>
#include <optional>

#include "analysis/machine_roof.h"
#include "base/error.h"
#include "base/stopwatch.h"
#include "exec/feeds.h"
#include "exec/sinks.h"
#include "exec/tapped_values.h"
#include "tasks/profile.h"
#include "tasks/profile/counters.h"
#include "tasks/profile/device_roof.h"
#include "tasks/profile/layers.h"
#include "tasks/run/describe.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

constexpr uint64_t kMostTurns = 5;

class ProfileJob {
 public:
  ProfileJob(ProfileRequest request, Observer& observer) : request_(std::move(request)), observer_(observer) {}

  results::ProfileReport run() {
    load();
    // Facts that only the data of a plan would tell are left out.
    const auto work = attempt([&] { return work_of_nodes(loaded_->model, feeds_); });
    if (std::holds_alternative<WorkOfNodes>(work)) work_ = std::get<WorkOfNodes>(work);
    report_.roof = analysis::measure_roof();
    report_.no_counters = counters_.absence();
    measure_all();
    if (report_.backends.size() > 1) report_.groups = group_layers(report_.backends);
    report_.findings = loaded_->findings.all();
    report_.timings = {{"load_seconds", loaded_->load_seconds}};
    return std::move(report_);
  }

 private:
  void load() {
    is_plan_ = is_engine_file(request_.model);
    loaded_ = is_plan_ ? load_plan_source(request_.model, observer_) : load_model(request_.model, observer_);
    if (is_plan_) {
      add_plan_shapes(request_.model.path, request_.session.settings, request_.inputs.generated.shapes);
    } else {
      require_runnable(*loaded_);
      request_.session.path = runnable_path(request_.model);
    }
    request_.session.profiles = true;
    report_.model = request_.model.path;
    Diagnostics& findings = loaded_->findings;
    const InputData data = make_inputs(loaded_->model, request_.inputs, observer_, findings);
    const std::optional<tensor::NamedData> first = data.source->get(0);
    if (!first) fail(ErrorCode::unsupported, "there are no inputs: nothing is run");
    feeds_ = exec::check_feeds(exec::signature_of(loaded_->model), *first, findings);
    for (const exec::Feed& feed : feeds_) report_.inputs.push_back(describe(feed.name, feed.value));
    tell_findings(findings, observer_);
  }

  // A backend at work. They take turns, so that each meets the same machine.
  struct Subject {
    size_t side;
    std::unique_ptr<exec::Session> session;
    std::unique_ptr<exec::Execution> execution;
    std::vector<std::string> outputs;
    std::vector<std::vector<exec::LayerSeconds>> runs;
    std::vector<double> seconds;
    double spent_seconds = 0;
    std::vector<std::pair<std::string, uint64_t>> counters;
  };

  void measure_all() {
    for (const std::string& name : request_.backends) {
      check_cancelled(observer_);
      results::ProfiledBackend& side = report_.backends.emplace_back();
      side.backend = name;
      side.title = exec::make_backend(name)->title();
    }
    for (size_t i = 0; i < report_.backends.size(); ++i) {
      guard(i, [&] {
        subjects_.push_back(open(i));
        run(subjects_.back());  // work of the first run alone is not counted
      });
    }
    const uint64_t turns = subjects_.size() > 1 ? std::min(kMostTurns, request_.runs) : 1;
    for (uint64_t turn = 1; turn <= turns; ++turn) {
      for (Subject& subject : subjects_) {
        check_cancelled(observer_);
        if (side_of(subject).failure.empty()) guard(subject.side, [&] { take_turn(subject, turn, turns); });
      }
    }
    for (Subject& subject : subjects_) {
      if (side_of(subject).failure.empty()) guard(subject.side, [&] { finish(subject); });
    }
  }

  template <typename Work>
  void guard(size_t side, Work&& work) {
    const auto done = attempt([&] {
      work();
      return true;
    });
    const Error* const error = std::get_if<Error>(&done);
    if (error == nullptr) return;
    if (error->code() == ErrorCode::usage || error->code() == ErrorCode::cancelled) throw *error;
    report_.backends[side].failure = error->line();
  }

  results::ProfiledBackend& side_of(const Subject& subject) { return report_.backends[subject.side]; }

  Subject open(size_t side) {
    const exec::BackendPtr backend = exec::find_backend(report_.backends[side].backend, request_.session.search);
    Diagnostics told;
    Subject subject{.side = side};
    subject.session = is_plan_ ? backend->open_plan(request_.model.path, request_.session, told)
                               : backend->prepare(loaded_->model, request_.session, told);
    tell_findings(told, observer_);
    if (backend->name() == exec::plan_builder()->name())
      report_.backends[side].roof = measure_device_roof(*backend, request_.session, weights_type());
    subject.execution =
        subject.session->make_execution({.threads = 0, .profiles = true, .times_additions = request_.is_marginal});
    report_.backends[side].is_added = subject.execution->times_additions();
    if (request_.is_marginal && !subject.execution->times_additions()) {
      fail(ErrorCode::unsupported, "only the engine on a card can tell what layers add to a run");
    }
    for (const exec::Port& output : subject.session->signature().outputs) subject.outputs.push_back(output.name);
    return subject;
  }

  // The type in which the model has most of its weights.
  tensor::DType weights_type() const {
    std::map<tensor::DType, uint64_t> elements = {{tensor::DType::float32, 1}};
    const ir::Model& model = loaded_->model;
    for (const ir::ValueId id : model[model.main_graph()].initializers) {
      const tensor::Tensor& tensor = model[model[id].constant].tensor;
      const bool is_short = tensor.dtype() == tensor::DType::float16 || tensor.dtype() == tensor::DType::bfloat16;
      elements[is_short ? tensor.dtype() : tensor::DType::float32] += tensor.count();
    }
    return std::ranges::max_element(elements, {}, [](const auto& of) { return of.second; })->first;
  }

  void run(Subject& subject) {
    exec::IgnoringSink sink;
    subject.execution->run(feeds_, subject.outputs, sink);
  }

  // Runs the subject's share of the runs and of the time; at least once.
  void take_turn(Subject& subject, uint64_t turn, uint64_t turns) {
    const uint64_t most = request_.runs * turn / turns;
    const double most_seconds = request_.seconds * static_cast<double>(turn) / static_cast<double>(turns);
    const auto before = counters_.read();
    const Stopwatch watch;
    do {
      run(subject);
      subject.seconds.push_back(subject.execution->seconds());
      if (subject.execution->profiles_each_run()) subject.runs.push_back(subject.execution->profile());
    } while (subject.seconds.size() < most && subject.spent_seconds + watch.seconds() < most_seconds);
    subject.spent_seconds += watch.seconds();
    add_counters(subject, before);
  }

  void finish(Subject& subject) {
    results::ProfiledBackend& side = side_of(subject);
    if (!subject.execution->profiles_each_run()) subject.runs.push_back(subject.execution->profile());
    side.runs = subject.seconds.size();
    std::ranges::sort(subject.seconds);
    side.run_seconds = subject.seconds[subject.seconds.size() / 2];
    side.counters = std::move(subject.counters);
    for (auto& [name, count] : side.counters) count /= side.runs;
    side.layers = merge_runs(subject.runs, work_, side.roof.value_or(report_.roof));
    if (side.layers.empty()) side.failure = "it cannot tell the times of its layers";
  }

  void add_counters(Subject& subject, const std::vector<std::pair<std::string, uint64_t>>& before) const {
    const std::vector<std::pair<std::string, uint64_t>> now = counters_.read();
    for (size_t i = 0; i < now.size() && i < before.size(); ++i) {
      if (subject.counters.size() == i) subject.counters.emplace_back(now[i].first, 0);
      subject.counters[i].second += now[i].second - before[i].second;
    }
  }

  ProfileRequest request_;
  Observer& observer_;
  ProcessorCounters counters_;
  bool is_plan_ = false;
  std::optional<LoadedModel> loaded_;
  std::vector<exec::Feed> feeds_;
  WorkOfNodes work_;
  std::vector<Subject> subjects_;
  results::ProfileReport report_;
};

}  // namespace

void check_profile(const ProfileRequest& request) {
  const auto refuse = [](std::string_view setting, const std::string& message) {
    throw Error(ErrorCode::usage, message).about(std::string(setting));
  };
  if (request.runs == 0) refuse("iterations", "expected at least 1, found 0");
  if (!(request.seconds > 0)) refuse("duration", "expected seconds above 0");
  for (const std::string& name : request.backends) {
    if (exec::make_backend(name)->traits().builds_engines || !is_engine_file(request.model)) continue;
    fail(ErrorCode::unsupported, "`{}` is an engine: {} cannot run it", request.model.path, name);
  }
}

results::ProfileReport profile(ProfileRequest request, Observer& observer) {
  if (request.backends.empty()) request.backends = {std::string(exec::plan_builder()->name())};
  check_profile(request);
  const unsigned threads = request.session.threads;
  auto job = std::make_unique<ProfileJob>(std::move(request), observer);  // counters come before threads
  const TaskThreads pool(threads);
  return job->run();
}

}  // namespace assay::tasks
