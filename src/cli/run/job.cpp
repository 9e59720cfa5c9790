#include "cli/run/job.h"

#include <array>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "cli/input_data.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/onnx_save.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/run/pictures.h"
#include "cli/run/taps.h"
#include "cli/run/watcher.h"
#include "compare/runs/unused_settings.h"
#include "formats/saved_data.h"
#include "inspect/computations.h"
#include "inspect/input_roles.h"
#include "inspect/value_sizes.h"
#include "ir/edit.h"
#include "onnx/load.h"
#include "passes/precision/convert_floats.h"
#include "remote/isolated_backend.h"

namespace assay::cli {
namespace {

constexpr uint64_t kUnknownIterations = UINT64_MAX;
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

// The same with the next number where another run has this name: one of a file that was saved in the same second.
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

// All that one call of `run` does, from the checked request to the report.
class Job {
 public:
  Job(const RunRequest& request, const Arguments& arguments, Environment& environment)
      : request_(request), arguments_(arguments), environment_(environment), log_(environment.log) {}

  RunOutcome run() {
    for (const std::string& note : request_.notes) log_.warning(note);
    if (!request_.backends.empty()) load();
    load_results();
    make_runners();
    check_output_names();
    set_up_comparison();
    start_scripts();
    exec::DataSourcePtr source;
    if (loaded_) source = make_source();
    if (source && request_.casts_inputs) source = exec::cast_source(std::move(source), loaded_->model);
    if (source && !source->get(0)) {  // what is wrong with the inputs is said before a backend starts
      fail(ErrorCode::unsupported, "the data loader gave not one set of inputs: nothing is run");
    }
    if (request_.wants_computed_tolerance) {
      if (!source) fail(ErrorCode::usage, "--tolerance auto needs the model that the outputs come from");
      compute_tolerances(*source);
    }
    RunWatcher watcher(request_, runners_, findings(), log_, host_.get());
    watcher.set_on_left_out([this](const std::string& runner) { pictures_->leave_out(runner); });
    watcher.print_findings();
    watcher.expect_iterations(source.get());
    exec::drive(runners_, loaded_ ? &loaded_->model : nullptr, source.get(), plan(source.get()), watcher, findings());
    RunOutcome outcome = finish(watcher);
    if (!outcome.save_failure) outcome.save_failure = pictures_->failure();
    results::RunReport& report = outcome.report;
    report.model = request_.model;
    report.findings = findings().all();
    report.timings = {{"load_seconds", loaded_ ? loaded_->load_seconds : 0},
                      {"compare_seconds", report.compare_seconds}};
    host_.reset();
    watcher.print_findings();
    for (const std::string& line : compare::unused_settings(report, request_.compare)) log_.warning(line);
    outcome.graph_order = taps_.names;
    return outcome;
  }

 private:
  // What could not be saved must not cost what was compared.
  static RunOutcome finish(RunWatcher& watcher) {
    const std::variant<std::monostate, Error> saved = attempt([&] {
      watcher.save();
      return std::monostate();
    });
    RunOutcome outcome{watcher.take(), std::nullopt, {}};
    if (const Error* error = std::get_if<Error>(&saved)) outcome.save_failure = *error;
    return outcome;
  }

  Diagnostics& findings() { return loaded_ ? loaded_->findings : own_findings_; }

  void load() {
    loaded_ = load_model(request_.model, arguments_, environment_);
    require_runnable(*loaded_);
    if (request_.converts_to_float16) {
      log_.info("Converting float tensors to float16");
      passes::convert_to_float16(loaded_->model, loaded_->findings);
    }
    taps_ = choose_taps(loaded_->model, request_.outputs, loaded_->findings);
    request_.session.path = runnable_path();
    if (!request_.save_onnx.empty()) save_model();
    if (request_.infer_shapes) look_for_contradictions();
    request_.session.values = taps_.beyond_outputs;
    for (const std::string& backend : request_.backends) backends_.push_back(backend_named(backend));
  }

  // The backends, and behind them what was saved.
  void make_runners() {
    std::set<std::string, std::less<>> taken;
    for (formats::SavedRun& run : saved_) taken.insert(run.runner = distinct_name(std::move(run.runner), taken));
    std::map<std::string, size_t> numbers;
    for (exec::BackendPtr& backend : backends_) {
      const std::string plain(backend->name());
      std::string name = distinct_name(runner_name(plain, numbers[plain]++), taken);
      taken.insert(name);
      runners_.push_back(exec::backend_runner(std::move(name), std::move(backend), loaded_->model, request_.session));
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
    if (runners_.size() == 1 && request_.backends.empty()) {
      fail(ErrorCode::usage, "there is only one run, `{}`: nothing to compare it with", printable(runners_[0]->name()));
    }
  }

  // A threshold for an output that nobody has would be lost without a word. Scripts may make outputs of their own.
  void check_output_names() {
    if (!request_.scripts.is_empty()) return;
    known_outputs_.insert(taps_.names.begin(), taps_.names.end());
    if (known_outputs_.empty()) return;
    const std::vector<std::string> names(known_outputs_.begin(), known_outputs_.end());
    for (const auto& [option, name] : compare::named_outputs(request_.compare)) {
      const std::string whole = name.substr(0, name.find_first_of("[.", 1));  // of an item of a sequence, say
      const bool is_pattern = name.find_first_of("*?") != std::string::npos;
      if (is_pattern || known_outputs_.contains(name) || known_outputs_.contains(whole)) continue;
      const std::optional<std::string> near = did_you_mean(name, names);
      fail(ErrorCode::usage, "{}: no output is called `{}`{}", option, printable(name),
           near ? fmt::format("; did you mean `{}`?", printable(*near)) : "");
    }
  }

  exec::BackendPtr backend_named(const std::string& name) const {
    if (request_.isolate)
      return remote::isolated_backend({.backend = name, .timeout_seconds = request_.timeout_seconds});
    return exec::find_backend(name, request_.session.search);
  }

  // The file, where a backend may read it by itself.
  std::filesystem::path runnable_path() const {
    const bool is_text = to_lower(std::filesystem::path(request_.model).extension().string()) == ".onnxtxt";
    const bool is_elsewhere = arguments_.has("--external-data-dir") || arguments_.flag("--ignore-external-data");
    const bool is_other = request_.model == "-" || is_text || is_elsewhere || request_.converts_to_float16;
    return is_other ? "" : request_.model;
  }

  // Inference on a copy, so that the backends may still read the file.
  void look_for_contradictions() {
    LoadedModel copy = second_copy();
    infer_shapes(copy);
    for (const Diagnostic& finding : copy.findings.all()) {
      loaded_->findings.add(finding.severity, finding.code, finding.node, finding.message);
    }
  }

  // The model with the chosen outputs, as a file; what is run is the model as it was loaded.
  void save_model() {
    LoadedModel edited = second_copy();
    if (request_.infer_shapes) infer_shapes(edited);
    if (!request_.outputs.is_empty()) {
      Diagnostics repeated;
      ir::Edit(edited.model)
          .set_outputs(edited.model.main_graph(), ir::select_outputs(edited.model, request_.outputs, repeated));
    }
    cli::save_model(edited.model, request_.save_onnx, request_.save_onnx_options, log_);
  }

  void load_results() {
    for (const std::string& path : request_.load_outputs) {
      log_.info("Loading inference results from " + printable(path));
      for (formats::SavedRun& run : formats::load_results(path)) saved_.push_back(std::move(run));
    }
  }

  void set_up_comparison() {
    compare::CompareOptions& options = request_.compare;
    const bool wants_all = log_.enabled(LogLevel::verbose) || !request_.page.empty();
    options.is_essential = [this](std::string_view name) { return taps_.is_essential(name); };
    options.histograms_of_passed = wants_all;
    options.wants_percentiles = [this, wants_all](std::string_view name) {
      return wants_all || taps_.is_essential(name);
    };
    pictures_.emplace(request_, runners_, log_);
    if (!pictures_->is_wanted()) return;
    options.on_measured = [this](const compare::ComparedAt& at, const tensor::Tensor& a, const tensor::Tensor& b,
                                 results::OutputComparison& output) { pictures_->draw(at, a, b, output); };
  }

  void start_scripts() {
    if (request_.scripts.is_empty()) return;
    remote::PythonOptions options{.search = request_.session.search, .timeout_seconds = request_.timeout_seconds};
    options.show = [this](std::string_view traceback) { log_.keep_details(traceback); };
    host_ = std::make_unique<remote::PythonHost>(std::move(options));
  }

  exec::DataSourcePtr make_source() {
    if (request_.scripts.data_loader) {
      request_.iterations = kUnknownIterations;
      return host_->data_loader(*request_.scripts.data_loader);
    }
    if (request_.load_inputs.empty()) {
      request_.data.roles = inspect::input_roles(loaded_->model);
      return exec::generated_source(loaded_->model, request_.data, request_.iterations, loaded_->findings);
    }
    std::vector<tensor::NamedData> inputs = load_inputs(request_.load_inputs, log_);
    request_.iterations = inputs.size();
    return exec::saved_source(std::move(inputs));
  }

  exec::DrivePlan plan(exec::DataSource* source) {
    exec::DrivePlan plan;
    plan.warm_up = request_.warm_up;
    plan.jobs = request_.jobs;
    plan.taps = loaded_ ? plan_taps(*source) : exec::TapPlan(1);
    plan.is_sequential =
        request_.is_sequential || (request_.iterations == 1 && plan.taps.size() == 1 && plan.jobs == 1);
    return plan;
  }

  // Under a memory limit, values are computed in groups: both sides of a group are held at a time.
  exec::TapPlan plan_taps(exec::DataSource& source) {
    const uint64_t budget = request_.session.max_memory_bytes / kHeldShare;
    std::map<std::string, uint64_t> sizes;
    if (budget != 0) {
      LoadedModel scratch = second_copy();
      sizes = inspect::value_sizes(scratch.model, *source.get(0));
    }
    return taps_.plan(sizes, budget);
  }

  void compute_tolerances(exec::DataSource& source) {
    LoadedModel scratch = second_copy();
    request_.compare.computation = [known =
                                        inspect::computations(scratch.model, *source.get(0))](std::string_view name) {
      const auto found = known.find(std::string(name));
      return found == known.end() ? compare::Computation() : found->second;
    };
  }

  // For what would change the model.
  LoadedModel second_copy() const { return {loaded_->model.copy(), Diagnostics(), 0}; }

  RunRequest request_;
  const Arguments& arguments_;
  Environment& environment_;
  Log& log_;
  std::optional<LoadedModel> loaded_;
  Diagnostics own_findings_;
  Taps taps_;
  std::vector<exec::BackendPtr> backends_;
  formats::SavedRuns saved_;
  std::vector<exec::RunnerPtr> runners_;
  std::set<std::string, std::less<>> known_outputs_;
  std::unique_ptr<remote::PythonHost> host_;
  std::optional<Pictures> pictures_;
};

}  // namespace

RunOutcome run_job(const RunRequest& request, const Arguments& arguments, Environment& environment) {
  const std::shared_ptr<Job> job = std::make_shared<Job>(request, arguments, environment);
  RunOutcome outcome = job->run();
  environment.kept.push_back(job);  // with the session that ran last
  return outcome;
}

}  // namespace assay::cli
