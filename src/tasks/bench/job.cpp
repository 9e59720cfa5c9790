#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "exec/feeds.h"
#include "exec/set_backend.h"
#include "ir/queries.h"
#include "ir/walk.h"
#include "remote/isolated_backend.h"
#include "tasks/bench.h"
#include "tasks/bench/load_times.h"
#include "tasks/bench/measure.h"
#include "tasks/bench/raw_inputs.h"
#include "tasks/bench/references.h"
#include "tasks/bench/statistics.h"
#include "tasks/run/describe.h"
#include "tasks/tensorflow_side.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

constexpr unsigned kMostStreams = 256;
constexpr uint64_t kLeastOfProfile = 10;  // runs
constexpr double kMostSeconds = 1e7;
constexpr std::string_view kRefit = "refit-from";

std::vector<double> computing(const results::BenchSide& side) {
  std::vector<double> seconds;
  for (const results::BenchSample& sample : side.samples) seconds.push_back(sample.compute_seconds);
  return seconds;
}

void summarize(results::BenchSide& side, std::span<const double> percentiles) {
  std::vector<double> latencies, uploads, downloads;
  double end = 0;
  for (const results::BenchSample& sample : side.samples) {
    latencies.push_back(sample.latency_seconds);
    uploads.push_back(sample.upload_seconds);
    downloads.push_back(sample.download_seconds);
    end = std::max(end, sample.start_seconds + sample.latency_seconds);
  }
  side.latency = distribution(latencies, percentiles);
  side.compute = distribution(computing(side), percentiles);
  if (side.is_on_device()) {
    side.upload = distribution(uploads, percentiles);
    side.download = distribution(downloads, percentiles);
  }
  side.wall_seconds = end - side.samples.front().start_seconds;
  if (side.wall_seconds > 0) side.throughput = static_cast<double>(side.samples.size()) / side.wall_seconds;
}

void check_rival(const std::string& rival) {
  const auto made = attempt([&] { return exec::make_backend(rival) != nullptr; });
  const Error* const error = std::get_if<Error>(&made);
  if (error != nullptr) throw exec::has_words(rival) ? Error(*error).about("against") : *error;
}

// One measurement, from the checked request to the result.
class BenchJob {
 public:
  BenchJob(BenchRequest request, Observer& observer) : request_(std::move(request)), observer_(observer) {}

  BenchOutcome run() {
    check_bench(request_);
    if (request_.plan.empty())
      load();
    else
      add_plan_shapes(request_.plan, request_.session.settings, request_.inputs.generated.shapes);
    name_sides();
    for (results::BenchSide& side : bench().sides) open(side);
    keep_inner_values();
    if (request_.references) check_outputs();
    if (request_.times_loading || request_.times_refitting) time_plan();
    if (request_.times_loading) return finish();
    if (request_.only_builds) {
      if (request_.profiles) look_closer(*subjects_[0], 1);
      return finish();
    }
    if (bench().is_interleaved)
      measure_in_turns(subjects_, request_, observer_);
    else
      measure_alone(*subjects_[0], request_, observer_);
    const results::BenchSide& first = bench().sides[0];
    if (first.is_measured()) look_closer(*subjects_[0], std::max<uint64_t>(request_.iterations, kLeastOfProfile));
    return finish();
  }

 private:
  results::Bench& bench() { return outcome_.bench; }

  void load() {
    loaded_ = load_model(request_.model, observer_);
    require_runnable(*loaded_);
    make_sets(exec::signature_of(loaded_->model));
    if (request_.keeps_inner) ask_for_inner_values();
    const bool is_file = request_.model.model == nullptr && request_.model.path != "-" &&
                         request_.model.path.ends_with(".onnx") && request_.model.external_folder.empty() &&
                         !request_.model.ignore_external_data;
    if (is_file) request_.session.path = request_.model.path;
  }

  // Values of the main graph that layers may give, besides the outputs.
  void ask_for_inner_values() {
    const ir::Model& model = loaded_->model;
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
      for (const ir::ValueId value : model[node].results) {
        if (!value.valid() || ir::is_output(model, value)) continue;
        request_.session.values.emplace_back(model.text(model[value].name));
      }
    }
  }

  // Leaves out those that became part of a layer.
  void keep_inner_values() {
    if (!request_.keeps_inner || subjects_.empty()) return;
    std::erase_if(request_.session.values, [&](const std::string& value) {
      return subjects_[0]->session().answer(value).kind == exec::TapAnswer::Kind::absent;
    });
    outcome_.inner = request_.session.values;
  }

  void check_outputs() {
    bench().loss_function = request_.references->loss;
    bench().loss_threshold = request_.references->threshold;
    BenchSubject& subject = *subjects_[0];
    bench().losses = check_references(*request_.references, sets_[0], [&](const tensor::NamedData& inputs) {
      return subject.outputs_of(exec::check_feeds(subject.session().signature(), inputs, findings_));
    });
  }

  void time_plan() {
    const std::string plan = request_.plan.empty() ? request_.save_plan : request_.plan;
    exec::SessionOptions options = request_.session;
    options.settings = {};
    if (request_.times_loading)
      bench().loads.push_back(time_loading("deserialize", *backends_[0], plan, options, observer_));
    if (!request_.times_refitting) return;
    const std::string weights = request_.session.settings.text(kRefit);
    options.settings.set(std::string(kRefit), {weights.empty() ? request_.model.path : weights});
    bench().loads.push_back(time_loading("refit", *backends_[0], plan, options, observer_));
  }

  void add_batch(const exec::Signature& signature) {
    if (!request_.batch) return;
    std::vector<exec::InputShape>& shapes = request_.inputs.generated.shapes;
    for (const exec::Port& input : signature.inputs) {
      const bool is_open = input.type && input.type->ranked && !input.type->dims.empty() && !input.type->dims[0].size;
      if (!is_open || input.is_shape) continue;
      tensor::Shape dims(input.type->dims.size(), -1);
      dims[0] = *request_.batch;
      const auto known = std::ranges::find(shapes, input.name, &exec::InputShape::pattern);
      if (known == shapes.end())
        shapes.push_back({input.name, std::move(dims)});
      else if (!known->dims.empty())
        known->dims[0] = *request_.batch;
    }
  }

  // The sets of inputs that runs take in turn; of a script, the first.
  void make_sets(const exec::Signature& signature) {
    add_batch(signature);
    const InputData data =
        loaded_ ? make_inputs(loaded_->model, request_.inputs, observer_, findings_)
                : InputData{nullptr, exec::generated_source(signature, request_.inputs.generated, 1, findings_)};
    const uint64_t count = request_.inputs.script ? 1 : data.source->count().value_or(1);
    for (uint64_t i = 0; i < count; ++i) {
      std::optional<tensor::NamedData> set = data.source->get(i);
      if (!set) break;
      read_raw_inputs(request_.raw_inputs, *set);
      sets_.push_back(exec::check_feeds(signature, *set, findings_));
    }
    if (sets_.empty()) fail(ErrorCode::unsupported, "there are no inputs: nothing is run");
    for (const exec::Feed& feed : sets_[0]) bench().inputs.push_back(describe(feed.name, feed.value));
    tell_findings(findings_, observer_);
  }

  void name_sides() {
    bench().is_interleaved = !request_.rivals.empty();
    bench().model = request_.plan.empty() ? request_.model.path : request_.plan;
    bench().streams = request_.streams;
    bench().devices = request_.devices;
    bench().sides.push_back({.backend = request_.backend});
    for (const std::string& rival : request_.rivals) bench().sides.push_back({.backend = rival});
    for (results::BenchSide& side : bench().sides) name_side(side);
    const unsigned all = thread_count();
    bench().threads = request_.streams == 1 ? all : std::max(1U, all / request_.streams);
  }

  void name_side(results::BenchSide& side) {
    side.title = exec::make_backend(side.backend)->title();
    const auto words = exec::BackendWords::parse(side.backend);
    std::vector<std::string> settings;
    for (const exec::SettingChange& change : words.changes) {
      settings.push_back(change.value->empty() ? change.name : *change.value);
    }
    if (!words.shard.empty()) {
      settings.push_back(request_.devices.empty() ? words.shard : "on " + join(request_.devices, " and "));
    }
    if (!settings.empty()) side.title += fmt::format(" ({})", join(settings, ", "));
  }

  // A rival that cannot be opened is named with its reason, and the others go on; without the subject there is nothing
  // to measure.
  void open(results::BenchSide& side) {
    check_cancelled(observer_);
    const std::variant<std::monostate, Error> made = attempt([&] {
      add_subject(side);
      return std::monostate();
    });
    const Error* const error = std::get_if<Error>(&made);
    if (error == nullptr) return;
    const bool is_subject = &side == &bench().sides[0];
    if (error->code() == ErrorCode::usage || error->code() == ErrorCode::cancelled || is_subject) throw *error;
    side.failure = error->line();
  }

  // Rivals have processes of their own, so that neither their threads nor their memory are in each other's way.
  void add_subject(results::BenchSide& side) {
    const Stopwatch watch;
    backends_.push_back(bench().is_interleaved ? remote::isolated_backend({.backend = side.backend})
                                               : exec::find_backend(side.backend, request_.session.search));
    Diagnostics told;
    std::unique_ptr<exec::Session> session = open_session(*backends_.back(), side, told);
    tell_findings(told, observer_);
    side.load_seconds = watch.seconds();
    side.description = session->description();
    if (&side == &bench().sides[0] && !request_.keeps_inner) check_values(*session);
    if (sets_.empty()) make_sets(session->signature());
    auto subject = std::make_unique<BenchSubject>(side, std::move(session), sets_);
    subject->make_streams(request_.streams, request_.streams == 1 ? 0 : bench().threads);
    if (request_.keeps_on_device) subject->keep_on_device();
    subjects_.push_back(std::move(subject));
  }

  // A plan has those values that were marked when it was built.
  void check_values(const exec::Session& session) const {
    for (const std::string& value : request_.session.values) {
      const exec::TapAnswer answer = session.answer(value);
      if (answer.kind == exec::TapAnswer::Kind::absent) {
        throw Error(ErrorCode::usage,
                    fmt::format("the value `{}` is computed inside a layer of the plan", printable(value)))
            .about("mark_debug");
      }
    }
  }

  std::unique_ptr<exec::Session> open_session(const exec::Backend& backend, const results::BenchSide& side,
                                              Diagnostics& told) {
    exec::SessionOptions session = request_.session;
    session.on_layer = layer_counter(observer_);
    if (&side != &bench().sides[0]) session.values.clear();
    // Words of a side decide which model the backend gets, too.
    for (const exec::SettingChange& change : exec::BackendWords::parse(side.backend).changes) {
      change.apply(session.settings);
    }
    if (!loaded_) return backend.open_plan(request_.plan, session, told);
    if (reads_file_itself(request_.model, side.backend)) return open_file(backend, request_.model, session, told);
    const ir::Model& model = model_of(side, session);
    if (request_.save_plan.empty()) return backend.prepare(model, session, told);
    observer_.info("Building engine: " + printable(request_.save_plan));
    session.settings = request_.session.settings;
    backend.build_plan(model, session, request_.save_plan, told);
    const exec::Settings given = std::exchange(session.settings, {});
    for (const std::string_view name : {"optimization-profile", "trt-package"}) {  // said of a plan when it runs
      if (given.has(name)) session.settings.set(std::string(name), given.list(name));
    }
    return backend.open_plan(request_.save_plan, session, told);
  }

  // The model that the side runs: engines that are asked for integers, here or as `engine:int8`, get a quantized copy.
  const ir::Model& model_of(const results::BenchSide& side, exec::SessionOptions& session) {
    const bool wants_weights = request_.integers && std::holds_alternative<WeightsRequest>(*request_.integers);
    const bool takes_copy = exec::make_backend(side.backend)->traits().takes_quantized_copies;
    if (!takes_copy || (!wants_weights && !session.settings.has("int8"))) return loaded_->model;
    if (!quantized_) {
      Int8Request int8;
      set_calibrator(calibrators().front(), int8);
      // Calibrated on what is run.
      InputRequest inputs = request_.inputs;
      inputs.files.clear();
      inputs.script.reset();
      inputs.data.assign(sets_.begin(), sets_.end());
      quantized_ = quantized({loaded_->model, request_.integers.value_or(int8), inputs, request_.session}, observer_);
    }
    if (!quantized_) return loaded_->model;
    session.path.clear();
    return *quantized_;
  }

  void look_closer(BenchSubject& subject, uint64_t runs) {
    constexpr double kMostOfProfile = 10;  // seconds
    if (request_.profiles) subject.profile(runs, kMostOfProfile);
    if (!request_.keeps_outputs) return;
    outcome_.inputs = sets_[0];
    outcome_.outputs = subject.outputs(request_.session.values);
  }

  BenchOutcome finish() {
    for (results::BenchSide& side : bench().sides) {
      if (side.is_measured()) summarize(side, request_.percentiles);
    }
    const results::BenchSide& first = bench().sides[0];
    for (size_t i = 1; first.is_measured() && i < bench().sides.size(); ++i) {
      const results::BenchSide& rival = bench().sides[i];
      if (!rival.is_measured()) continue;
      bench().ratios.push_back(ratio(computing(first), computing(rival)));
      bench().ratios.back().backend = rival.backend;
    }
    bench().findings = findings_.all();
    bench().timings.emplace_back("load_seconds", loaded_ ? loaded_->load_seconds : 0);
    return std::move(outcome_);
  }

  BenchRequest request_;
  Observer& observer_;
  std::optional<LoadedModel> loaded_;
  std::optional<ir::Model> quantized_;
  Diagnostics findings_;
  std::vector<std::vector<exec::Feed>> sets_;
  BenchOutcome outcome_;
  std::vector<exec::BackendPtr> backends_;
  std::vector<std::unique_ptr<BenchSubject>> subjects_;
};

// NaN is none.
bool is_time(double seconds) { return seconds >= 0 && seconds <= kMostSeconds; }

[[noreturn]] void refuse(std::string_view setting, std::string message) {
  throw Error(ErrorCode::usage, std::move(message)).about(std::string(setting));
}

// Refuses settings that exclude each other.
void check_together(const BenchRequest& request) {
  if (request.streams > 1 && !request.rivals.empty()) {
    refuse("streams", "backends that are measured in turns have one stream each");
  }
  if (!request.devices.empty() && !request.rivals.empty())
    refuse("devices", "backends that are measured in turns have one device each");
  if (!request.devices.empty() && !request.save_plan.empty()) refuse("save_engine", "one device builds a plan");
  if (request.keeps_on_device && !request.rivals.empty())
    refuse("no_transfers", "rivals have processes and memory of their own");
  if (!request.plan.empty() && !request.save_plan.empty())
    refuse("save_engine", "a plan is loaded: it is saved already");
  if (!request.save_plan.empty() && !request.rivals.empty())
    refuse("against", "rivals need a model, and a plan is built");
  if (!request.save_plan.empty() && !exec::make_backend(request.backend)->traits().builds_engines)
    refuse("save_engine", "only the engine and TensorRT have plans");
  if (!request.plan.empty() && !request.rivals.empty()) refuse("against", "rivals need a model, and a plan was given");
  const bool has_plan = !request.plan.empty() || !request.save_plan.empty();
  if (request.times_loading && !has_plan) refuse("time_deserialize", "there is no plan that could be loaded");
  if (request.times_refitting && !has_plan) refuse("time_refit", "there is no plan that could get other weights");
  if (request.times_refitting && request.model.path.empty() && !request.session.settings.has(kRefit))
    refuse("time_refit", "which weights a plan gets is not said");
  if (request.keeps_inner && !request.plan.empty())
    refuse("mark_unfused", "a plan has the values that were marked when it was built");
  if (!request.plan.empty() && !request.inputs.is_generated()) {
    refuse("load_inputs", "inputs of a plan are generated, or given as NAME:FILE");
  }
}

}  // namespace

void check_bench(const BenchRequest& request) {
  if (!is_time(request.duration_seconds)) {
    refuse("duration",
           fmt::format("expected seconds from 0 to {:g}, found {}", kMostSeconds, request.duration_seconds));
  }
  const std::string expected = fmt::format("expected milliseconds from 0 to {:g}", kMostSeconds * 1e3);
  if (!is_time(request.warm_up_seconds)) refuse("warm_up", expected);
  if (!is_time(request.idle_seconds)) refuse("idle_time", expected);
  if (!is_time(request.sleep_seconds)) refuse("sleep_time", expected);
  for (const std::string& rival : request.rivals) check_rival(rival);
  if (request.iterations == 0) refuse("iterations", "expected at least 1, found 0");
  if (request.streams == 0 || request.streams > kMostStreams) {
    refuse("streams", fmt::format("expected a number from 1 to {}, found {}", kMostStreams, request.streams));
  }
  check_together(request);
  if (request.references && !(request.references->threshold > 0))
    refuse("accuracy_threshold", "expected a loss above 0 from which on an output fails");
  if (!request.inputs.files.empty() && !request.raw_inputs.empty()) {
    refuse("load_inputs", "expected either files of inputs or NAME:FILE, found both");
  }
  for (const double p : request.percentiles) {
    if (!(p >= 0 && p <= 100)) refuse("percentile", fmt::format("expected numbers from 0 to 100, found {}", p));
  }
  static_cast<void>(exec::make_backend(request.backend));
}

BenchOutcome bench(BenchRequest request, Observer& observer) {
  const TaskThreads threads(request.session.threads);
  return BenchJob(std::move(request), observer).run();
}

}  // namespace assay::tasks
