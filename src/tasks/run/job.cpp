#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/allowances.h"
#include "analysis/value_sizes.h"
#include "base/error.h"
#include "base/text.h"
#include "compare/runs/averages.h"
#include "compare/runs/unused_settings.h"
#include "compare/runs/verdict.h"
#include "convert/precision/convert_floats.h"
#include "ir/edit.h"
#include "ir/queries.h"
#include "remote/isolated_backend.h"
#include "tasks/permitted.h"
#include "tasks/run.h"
#include "tasks/run/pictures.h"
#include "tasks/run/taps.h"
#include "tasks/run/watcher.h"
#include "tasks/save.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

constexpr uint32_t kEarlyRuns = 1;  // moved runs, which mostly allow enough
constexpr uint64_t kHeldShare = 4;  // of the memory limit: two sides of a group, and what a backend needs for it

// `onnxrt-runner-N0-11/21/26-07:40:57`; runs of one backend are counted.
std::string runner_name(const std::string& backend, size_t number) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%m/%d/%y-%H:%M:%S", &local);
  return fmt::format("{}-runner-N{}-{}", backend, number, text.data());
}

// The name with the next number if another run has it: one of a file that was saved in the same second.
std::string distinct_name(std::string name, const std::set<std::string, std::less<>>& taken) {
  constexpr std::string_view kMark = "-runner-N";
  while (taken.contains(name)) {
    const size_t mark = name.find(kMark);
    const size_t begin = mark + kMark.size();
    size_t number = 0;
    const char* const end = name.data() + name.size();
    const bool is_ours = mark != std::string::npos;
    const std::from_chars_result read = is_ours ? std::from_chars(name.data() + begin, end, number)
                                                : std::from_chars_result{nullptr, std::errc::invalid_argument};
    if (read.ec != std::errc())
      name += " (2)";
    else
      name.replace(begin, static_cast<size_t>(read.ptr - name.data()) - begin, fmt::format("{}", number + 1));
  }
  return name;
}

// One run, from the checked request to the report.
class Job {
 public:
  Job(RunRequest request, Observer& observer) : request_(std::move(request)), observer_(observer) {}

  RunOutcome run() {
    check_run(request_);
    if (!request_.backends.empty()) load();
    load_results();
    make_runners();
    check_output_names();
    set_up_comparison();
    const bool has_scripts = !request_.scripts.is_empty() || (loaded_ && request_.inputs.script);
    if (has_scripts) host_ = make_python_host(request_.session.search, request_.timeout_seconds, observer_);
    if (loaded_) inputs_ = make_inputs(loaded_->model, request_.inputs, observer_, findings(), host_);
    if (inputs_.source) check_inputs();
    if (request_.computes_tolerance) compute_tolerances();
    RunWatcher watcher(request_, runners_, findings(), observer_, host_.get());
    watcher.set_on_left_out([this](const std::string& runner) { pictures_->leave_out(runner); });
    watcher.tell_findings();
    watcher.expect_iterations(inputs_.source.get());
    exec::drive(runners_, inputs_.source.get(), plan(), watcher, findings());
    return finish(watcher);
  }

 private:
  // Ends the run. An output that could not be saved must not lose the comparison.
  RunOutcome finish(RunWatcher& watcher) {
    RunOutcome outcome;
    const std::variant<std::monostate, Error> saved = attempt([&] {
      watcher.save();
      return std::monostate();
    });
    if (const Error* error = std::get_if<Error>(&saved)) outcome.save_failure = *error;
    outcome.report = watcher.take(outcome.outputs);
    if (!outcome.save_failure) outcome.save_failure = pictures_->failure();
    results::RunReport& report = outcome.report;
    report.model = request_.model.path;
    report.findings = findings().all();
    report.timings = {{"load_seconds", loaded_ ? loaded_->load_seconds : 0},
                      {"compare_seconds", report.compare_seconds}};
    inputs_.host.reset();
    host_.reset();
    watcher.tell_findings();
    outcome.unused_names = compare::unused_settings(report, request_.compare);
    if (taps_.names.size() > 1) {
      for (results::PairComparison& pair : report.pairs) pair.first_failed = compare::first_failed(pair, taps_.names);
      if (request_.keeps_maps) note_operators(report);
    }
    return outcome;
  }

  // For the page.
  void note_operators(results::RunReport& report) const {
    const ir::Model& model = loaded_->model;
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
      for (const ir::ValueId result : model[node].results) {
        if (result) report.operators.emplace(model.text(model[result].name), model.text(model[node].op));
      }
    }
  }

  // Checks the inputs before a backend starts.
  void check_inputs() {
    const std::optional<tensor::NamedData> first = inputs_.source->get(0);
    if (!first && request_.may_judge_nothing) return;
    if (!first) fail(ErrorCode::unsupported, "the data loader gave no inputs: nothing is run");
    Diagnostics told_by_runners;
    if (!is_plan_) exec::check_feeds(exec::signature_of(loaded_->model), *first, told_by_runners);
  }

  Diagnostics& findings() { return loaded_ ? loaded_->findings : own_findings_; }

  void load() {
    if (is_engine_file(request_.model)) choose_plan();
    is_plan_ = request_.plans.size() == request_.backends.size() && is_engine_file(request_.model);
    loaded_ = is_plan_ ? load_plan_source(request_.model, observer_) : load_model(request_.model, observer_);
    if (is_plan_) add_plan_shapes(request_.model.path, request_.session.settings, request_.inputs.generated.shapes);
    require_runnable(*loaded_);
    if (request_.converts_to_float16) {
      observer_.info("Converting float tensors to float16");
      convert::convert_to_float16(loaded_->model, loaded_->findings);
    }
    surgery::set_interface_types(loaded_->model, request_.interface_types);
    taps_ = choose_taps(loaded_->model, request_.outputs, loaded_->findings);
    const bool is_edited = request_.converts_to_float16 || !request_.interface_types.empty();
    request_.session.path = is_edited ? "" : runnable_path(request_.model);
    if (!request_.save_onnx.empty()) save_model();
    if (request_.infer_shapes) look_for_contradictions();
    request_.session.values = taps_.beyond_outputs;
    request_.session.on_layer = layer_counter(observer_);
  }

  // The plan takes the place of a model, for the engine alone.
  void choose_plan() {
    const std::string& path = request_.model.path;
    for (size_t i = 0; i < request_.backends.size(); ++i) {
      if (request_.backends[i] != "engine") {
        throw Error(ErrorCode::unsupported,
                    fmt::format("`{}` is an engine: {} cannot run it", printable(path), request_.backends[i]))
            .remedied_by("trt_engine");
      }
      request_.plans.try_emplace(i, path);
    }
    if (request_.converts_to_float16 || !request_.save_onnx.empty() || !request_.interface_types.empty()) {
      fail(ErrorCode::usage, "`{}` is an engine: its model cannot be changed or saved", printable(path));
    }
  }

  exec::RunnerPtr live_runner(size_t number, std::string name) {
    exec::BackendPtr backend = backend_named(request_.backends[number]);
    const auto plan = request_.plans.find(number);
    if (plan != request_.plans.end()) {
      return exec::plan_runner(std::move(name), std::move(backend), plan->second, request_.session);
    }
    const ir::Model* const converted = request_.backends[number] == "engine" ? engine_model() : nullptr;
    if (converted == nullptr) {
      return exec::backend_runner(std::move(name), std::move(backend), loaded_->model, request_.session);
    }
    exec::SessionOptions session = request_.session;
    session.path.clear();
    return exec::converted_runner(std::move(name), std::move(backend), *converted, std::move(session));
  }

  // The model that engines run instead of the loaded one; null: the loaded one.
  const ir::Model* engine_model() {
    if (!request_.integers || is_plan_) return nullptr;
    if (!is_quantized_) {
      quantized_ = quantized({loaded_->model, *request_.integers, request_.inputs, request_.session}, observer_);
      is_quantized_ = true;
    }
    return quantized_ ? &*quantized_ : nullptr;
  }

  // The backends, then what was saved.
  void make_runners() {
    std::set<std::string, std::less<>> taken;
    for (formats::SavedRun& run : saved_) taken.insert(run.runner = distinct_name(std::move(run.runner), taken));
    std::map<std::string, size_t> numbers;
    for (size_t i = 0; i < request_.backends.size(); ++i) {
      const std::string plain(exec::make_backend(request_.backends[i])->name());
      const auto word = request_.words.find(plain);
      const std::string& called = word == request_.words.end() ? plain : word->second;
      const std::string name = distinct_name(runner_name(called, numbers[plain]++), taken);
      taken.insert(name);
      runners_.push_back(exec::late_runner(name, [this, i, name] { return live_runner(i, name); }));
    }
    for (formats::SavedRun& run : saved_) {
      std::vector<exec::SavedOutputs> iterations;
      for (formats::SavedIteration& iteration : run.iterations) {
        std::erase_if(iteration.outputs,
                      [&](const tensor::NamedDatum& output) { return ir::is_excluded(request_.outputs, output.name); });
        for (const tensor::NamedDatum& output : iteration.outputs) known_outputs_.insert(output.name);
        iterations.push_back({std::move(iteration.outputs), iteration.runtime_seconds});
      }
      runners_.push_back(exec::saved_runner(std::move(run.runner), std::move(iterations)));
    }
    if (runners_.size() == 1 && request_.backends.empty() && !request_.may_judge_nothing) {
      fail(ErrorCode::usage, "there is only one run, `{}`: nothing to compare it with", printable(runners_[0]->name()));
    }
  }

  // A threshold for an output that nobody has would be lost without a word. Scripts may make outputs of their own.
  void check_output_names() {
    if (!request_.scripts.is_empty() || request_.inputs.script) return;
    known_outputs_.insert(taps_.names.begin(), taps_.names.end());
    if (known_outputs_.empty()) return;
    const std::vector<std::string> names(known_outputs_.begin(), known_outputs_.end());
    for (const auto& [setting, name] : compare::named_outputs(request_.compare)) {
      const std::string whole = name.substr(0, name.find_first_of("[.", 1));  // of an item of a sequence, say
      const bool is_pattern = name.find_first_of("*?") != std::string::npos;
      if (is_pattern || known_outputs_.contains(name) || known_outputs_.contains(whole)) continue;
      const std::optional<std::string> near = did_you_mean(name, names);
      throw Error(ErrorCode::usage, fmt::format("no output is called `{}`{}", printable(name),
                                                near ? fmt::format("; did you mean `{}`?", printable(*near)) : ""))
          .about(std::string(setting));
    }
  }

  exec::BackendPtr backend_named(const std::string& name) const {
    if (request_.isolate)
      return remote::isolated_backend({.backend = name, .timeout_seconds = request_.timeout_seconds});
    return exec::find_backend(name, request_.session.search);
  }

  // The model stays as it is, so that the backends may still read the file.
  void look_for_contradictions() { infer_types(*loaded_); }

  // The model with the chosen outputs, as a file; what is run is the model as it was loaded.
  void save_model() {
    LoadedModel edited{loaded_->model.copy(), Diagnostics(), 0};
    if (request_.infer_shapes) infer_shapes(edited);
    if (!request_.outputs.is_empty()) {
      Diagnostics repeated;
      ir::OutputSelection outputs = request_.outputs;
      outputs.debugged.clear();
      ir::Edit(edited.model)
          .set_outputs(edited.model.main_graph(), ir::select_outputs(edited.model, outputs, repeated));
    }
    tasks::save_model(edited.model, request_.save_onnx, request_.save_onnx_options, observer_);
  }

  void load_results() {
    for (const std::string& path : request_.saved_outputs) {
      observer_.info("Loading inference results from " + printable(path));
      for (formats::SavedRun& run : formats::load_results(path)) saved_.push_back(std::move(run));
    }
    for (const formats::SavedRun& run : request_.given_outputs) saved_.push_back(run);
  }

  void set_up_comparison() {
    compare::CompareOptions& options = request_.compare;
    const bool wants_all = request_.measures_all;
    options.is_essential = [this](std::string_view name) {
      return !request_.leaves_out_unpaired && taps_.is_essential(name);
    };
    options.histograms_of_passed = wants_all;
    options.wants_percentiles = [this, wants_all](std::string_view name) {
      return wants_all || taps_.is_essential(name);
    };
    pictures_.emplace(request_, runners_, observer_);
    if (!pictures_->is_wanted()) return;
    options.on_measured = [this](const compare::ComparedAt& at, const tensor::Tensor& a, const tensor::Tensor& b,
                                 results::OutputComparison& output) { pictures_->draw(at, a, b, output); };
  }

  exec::DrivePlan plan() {
    exec::DrivePlan plan;
    plan.warm_up = request_.warm_up;
    plan.jobs = request_.jobs;
    plan.taps = loaded_ ? plan_taps() : exec::TapPlan(1);
    plan.is_sequential = request_.is_sequential || (has_one_iteration() && plan.taps.size() == 1 && plan.jobs == 1);
    return plan;
  }

  bool has_one_iteration() const { return inputs_.source && inputs_.source->count() == std::optional<uint64_t>(1); }

  // Under a memory limit, values are computed in groups: both sides of a group are held at a time.
  exec::TapPlan plan_taps() {
    const uint64_t budget = request_.session.max_memory_bytes / kHeldShare;
    std::map<std::string, uint64_t> sizes;
    if (budget == 0) return taps_.plan(sizes, budget);
    try {
      sizes = analysis::value_sizes(loaded_->model, *inputs_.source->get(0));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::shape) throw;  // each backend reports it itself
    }
    return taps_.plan(sizes, budget);
  }

  void compute_tolerances() {
    if (!inputs_.source) {
      fail(ErrorCode::usage, "tolerances can only be computed from the model that the outputs come from");
    }
    request_.compare.allowance = [this](const compare::ComparedAt& at, std::string_view name_a, std::string_view name_b,
                                        bool is_final) -> const compare::Allowance* {
      needs_all_runs_ = needs_all_runs_ || is_final;
      if (unknown_of_ == at.iteration) return &unknown_;
      try {
        const analysis::Allowances& known =
            allowances(at.iteration, needs_all_runs_ ? analysis::kMovedRuns : kEarlyRuns);
        const auto found = known.contains(name_a) ? known.find(name_a) : known.find(name_b);
        return found == known.end() ? nullptr : &found->second;
      } catch (const Error& error) {
        if (error.code() == ErrorCode::cancelled) throw;
        unknown_of_ = at.iteration;
        unknown_ = {.reason = "the reference cannot run the model: " + error.line(), .is_unknown = true};
        return &unknown_;
      }
    };
  }

  const analysis::Allowances& allowances(uint64_t iteration, uint32_t runs) {
    if (allowances_of_ == iteration && allowances_by_ >= runs) return allowances_;
    allowances_of_.reset();
    observer_.info(fmt::format("Computing tolerances: the reference runs {} times", runs + 1));
    Counter counter(observer_, "nodes", loaded_->model[loaded_->model.main_graph()].node_count);
    allowances_ =
        analysis::allowances(loaded_->model, *inputs_.source->get(iteration), {taps_.names.begin(), taps_.names.end()},
                             {.max_memory_bytes = request_.session.max_memory_bytes,
                              .max_steps = request_.session.max_steps,
                              .max_work = request_.session.max_work,
                              .least_roundoff = permitted_roundoff(request_.backends, request_.session.settings),
                              .post_process =
                                  [this](std::string_view name, const tensor::Datum& value) {
                                    return compare::post_process(name, value, request_.post_processing);
                                  },
                              .runs = runs,
                              .on_node = [&] { counter.advance(); }});
    allowances_of_ = iteration;
    allowances_by_ = runs;
    return allowances_;
  }

  RunRequest request_;
  Observer& observer_;
  std::optional<LoadedModel> loaded_;
  bool is_plan_ = false;                // true: a plan was loaded
  std::optional<ir::Model> quantized_;  // run by the engine instead
  bool is_quantized_ = false;           // quantized_ is what came of it
  Diagnostics own_findings_;
  Taps taps_;
  formats::SavedRuns saved_;
  std::vector<exec::RunnerPtr> runners_;
  std::set<std::string, std::less<>> known_outputs_;
  std::shared_ptr<remote::PythonHost> host_;
  InputData inputs_;
  std::optional<uint64_t> allowances_of_;  // the iteration
  uint32_t allowances_by_ = 0;             // moved runs
  bool needs_all_runs_ = false;            // something was beyond what fewer allow
  analysis::Allowances allowances_;
  std::optional<uint64_t> unknown_of_;  // the iteration that has none
  compare::Allowance unknown_;
  std::optional<Pictures> pictures_;
};

}  // namespace

void check_run(const RunRequest& request) {
  if (request.check_average) compare::check_averages(request.compare);
  if (request.backends.empty()) return;
  const uint64_t iterations = request.inputs.iterations;
  if (!request.save_inputs.empty()) formats::check_room(request.save_inputs, 1, iterations);
  if (!request.save_outputs.empty()) formats::check_room(request.save_outputs, request.backends.size(), iterations);
}

RunOutcome run(RunRequest request, Observer& observer) {
  const TaskThreads threads(request.session.threads);
  const std::shared_ptr<Job> job = std::make_shared<Job>(std::move(request), observer);
  RunOutcome outcome = job->run();
  outcome.sessions = job;
  return outcome;
}

}  // namespace assay::tasks
