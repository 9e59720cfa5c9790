#include <algorithm>
#include <optional>

#include "analysis/machine_roof.h"
#include "base/error.h"
#include "base/stopwatch.h"
#include "exec/feeds.h"
#include "exec/tapped_values.h"
#include "tasks/profile.h"
#include "tasks/profile/counters.h"
#include "tasks/profile/layers.h"
#include "tasks/run/describe.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

class NoSink final : public exec::TensorSink {
 public:
  void accept(std::string_view, const tensor::Datum&) override {}
};

class ProfileJob {
 public:
  ProfileJob(ProfileRequest request, Observer& observer) : request_(std::move(request)), observer_(observer) {}

  results::ProfileReport run() {
    load();
    // What only the data of a plan would tell is left out.
    const auto work = attempt([&] { return work_of_nodes(loaded_->model, feeds_); });
    if (std::holds_alternative<WorkOfNodes>(work)) work_ = std::get<WorkOfNodes>(work);
    report_.roof = analysis::measure_roof();
    report_.no_counters = counters_.absence();
    for (const std::string& name : request_.backends) measure(name);
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

  void measure(const std::string& name) {
    check_cancelled(observer_);
    results::ProfiledBackend& side = report_.backends.emplace_back();
    side.backend = name;
    side.title = exec::make_backend(name)->title();
    const auto done = attempt([&] {
      run_layers(side);
      return true;
    });
    const Error* const error = std::get_if<Error>(&done);
    if (error == nullptr) return;
    if (error->code() == ErrorCode::usage || error->code() == ErrorCode::cancelled) throw *error;
    side.failure = error->line();
  }

  void run_layers(results::ProfiledBackend& side) {
    const exec::BackendPtr backend = exec::find_backend(side.backend, request_.session.search);
    Diagnostics told;
    const std::unique_ptr<exec::Session> session = is_plan_
                                                       ? backend->open_plan(request_.model.path, request_.session, told)
                                                       : backend->prepare(loaded_->model, request_.session, told);
    tell_findings(told, observer_);
    const std::unique_ptr<exec::Execution> execution = session->make_execution({.threads = 0, .profiles = true});
    std::vector<std::string> outputs;
    for (const exec::Port& output : session->signature().outputs) outputs.push_back(output.name);
    NoSink sink;
    execution->run(feeds_, outputs, sink);  // what only the first run does is not counted
    std::vector<std::vector<exec::LayerSeconds>> runs;
    std::vector<double> seconds;
    const auto before = counters_.read();
    for (const Stopwatch watch; side.runs == 0 || (side.runs < request_.runs && watch.seconds() < request_.seconds);) {
      execution->run(feeds_, outputs, sink);
      seconds.push_back(execution->seconds());
      if (execution->profiles_each_run()) runs.push_back(execution->profile());
      ++side.runs;
    }
    add_counters(side, before);
    if (!execution->profiles_each_run()) runs.push_back(execution->profile());
    std::ranges::sort(seconds);
    side.run_seconds = seconds[seconds.size() / 2];
    side.layers = merge_runs(runs, work_, report_.roof);
    if (side.layers.empty()) side.failure = "it cannot tell the times of its layers";
  }

  void add_counters(results::ProfiledBackend& side, const std::vector<std::pair<std::string, uint64_t>>& before) const {
    side.counters = counters_.read();
    for (size_t i = 0; i < side.counters.size() && i < before.size(); ++i) {
      side.counters[i].second = (side.counters[i].second - before[i].second) / side.runs;
    }
  }

  ProfileRequest request_;
  Observer& observer_;
  ProcessorCounters counters_;
  bool is_plan_ = false;
  std::optional<LoadedModel> loaded_;
  std::vector<exec::Feed> feeds_;
  WorkOfNodes work_;
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
    static_cast<void>(exec::make_backend(name));
    if (name == "engine" || !is_engine_file(request.model)) continue;
    fail(ErrorCode::unsupported, "`{}` is an engine: {} cannot run it", request.model.path, name);
  }
}

results::ProfileReport profile(ProfileRequest request, Observer& observer) {
  if (request.backends.empty()) request.backends = {"engine"};
  check_profile(request);
  const unsigned threads = request.session.threads;
  auto job = std::make_unique<ProfileJob>(std::move(request), observer);  // counters come before threads
  const TaskThreads pool(threads);
  return job->run();
}

}  // namespace assay::tasks
