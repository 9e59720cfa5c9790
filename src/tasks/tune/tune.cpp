#include "tasks/tune.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "exec/feeds.h"
#include "tasks/bench/measure.h"
#include "tasks/bench/raw_inputs.h"
#include "tasks/bench/references.h"
#include "tasks/bench/statistics.h"
#include "tasks/threads.h"
#include "tasks/tune/cache.h"
#include "tasks/tune/routes.h"

namespace assay::tasks {
namespace {

// A model, with a session that a route made of it.
struct Built {
  std::unique_ptr<LoadedModel> loaded;  // null: that of the search
  std::unique_ptr<exec::Session> session;
};

// A session of somebody else, for a subject of its own.
class LentSession final : public exec::Session {
 public:
  explicit LentSession(const exec::Session& session) : session_(session) {}
  const exec::Signature& signature() const override { return session_.signature(); }
  std::unique_ptr<exec::Execution> make_execution(const exec::ExecutionOptions& options) const override {
    return session_.make_execution(options);
  }

 private:
  const exec::Session& session_;
};

class Tuner {
 public:
  Tuner(TuneRequest request, Observer& observer)
      : request_(std::move(request)),
        observer_(observer),
        loaded_(load_model(request_.bench.model, observer)),
        cache_(request_, request_.only_lists ? "" : request_.cache) {
    tuning_.model = request_.bench.model.path;
    require_runnable(loaded_);
  }

  results::Tuning run() {
    if (request_.only_lists) return list();
    backend_ = exec::find_backend(request_.bench.backend, request_.bench.session.search);
    make_inputs_once();
    prepare_references();
    defaults_ = build({});
    tuning_.routes.push_back({.route = "", .failure = {}});
    judge(*defaults_.session, tuning_.routes.front());
    search_routes(
        request_.search, request_.knobs, [&](const Route& route) { return attempt_route(route); },
        [&] { return is_over(); });
    choose();
    return std::move(tuning_);
  }

 private:
  results::Tuning list() {
    search_routes(
        request_.search, request_.knobs,
        [&](const Route& route) {
          tuning_.routes.push_back({.route = route_text(route), .failure = {}});
          return std::optional<double>();
        },
        [] { return false; });
    return std::move(tuning_);
  }

  bool is_over() {
    check_cancelled(observer_);
    const bool is_late = request_.timeout_seconds > 0 && watch_.seconds() > request_.timeout_seconds;
    if (is_late) tuning_.is_complete = false;
    return is_late;
  }

  void make_inputs_once() {
    const exec::Signature signature = exec::signature_of(loaded_.model);
    const InputData data = make_inputs(loaded_.model, request_.bench.inputs, observer_, findings_);
    std::optional<tensor::NamedData> set = data.source->get(0);
    if (!set) fail(ErrorCode::unsupported, "there are no inputs: nothing is run");
    read_raw_inputs(request_.bench.raw_inputs, *set);
    sets_.push_back(exec::check_feeds(signature, *set, findings_));
    tell_findings(findings_, observer_);
  }

  // Outputs of the reference, where they are what routes are held against.
  void prepare_references() {
    if (!request_.bench.references) return;
    tuning_.loss_function = request_.bench.references->loss;
    tuning_.loss_threshold = request_.bench.references->threshold;
    if (!request_.judges_by_reference) return;
    const exec::BackendPtr reference = exec::make_backend("ref");
    Diagnostics told;
    const std::unique_ptr<exec::Session> session =
        reference->prepare(loaded_.model, {.search = {}, .settings = {}}, told);
    expected_ = outputs_of(*session, sets_[0]);
  }

  tensor::NamedData outputs_of(const exec::Session& session, const std::vector<exec::Feed>& feeds) const {
    results::BenchSide side;
    BenchSubject subject(side, std::make_unique<LentSession>(session), sets_);
    subject.make_streams(1, 0);
    return subject.outputs_of(feeds);
  }

  Built build(const Route& route) const {
    Built built;
    exec::SessionOptions options = request_.bench.session;
    std::string path;
    if (request_.choose)
      path = request_.choose(route, options.settings);
    else
      apply_route(route, options.settings);
    if (!path.empty()) built.loaded = std::make_unique<LoadedModel>(load_model({.path = path}, observer_));
    Diagnostics told;
    built.session = backend_->prepare(built.loaded ? built.loaded->model : loaded_.model, options, told);
    return built;
  }

  // Outputs beside those that should come.
  void judge(const exec::Session& session, results::TunedRoute& route) const {
    if (!request_.bench.references) return;
    const ReferenceCheck& check = *request_.bench.references;
    std::vector<results::ReferenceLoss> losses;
    if (request_.judges_by_reference) {
      for (const tensor::NamedDatum& seen : outputs_of(session, sets_[0])) {
        const auto wanted = std::ranges::find(expected_, seen.name, &tensor::NamedDatum::name);
        const bool is_number = wanted != expected_.end() && seen.value.is_tensor() && wanted->value.is_tensor();
        if (is_number) losses.push_back(loss_of(check, seen.name, seen.value.tensor(), wanted->value.tensor()));
      }
    } else {
      Diagnostics told;
      losses = check_references(check, sets_[0], [&](const tensor::NamedData& inputs) {
        return outputs_of(session, exec::check_feeds(session.signature(), inputs, told));
      });
    }
    route.is_accurate = !losses.empty();
    for (const results::ReferenceLoss& loss : losses) {
      route.is_accurate = route.is_accurate && loss.passed;
      route.loss = std::max(route.loss.value_or(0), loss.loss);
    }
  }

  // The gain over the defaults, beyond the interval; nullopt: none.
  static std::optional<double> gain_of(const results::TunedRoute& route) {
    if (!route.failure.empty() || !route.is_accurate || !route.ratio) return std::nullopt;
    const double most = route.ratio->medians_interval ? route.ratio->medians_interval->high : route.ratio->of_medians;
    if (most >= 1) return std::nullopt;
    return 1 - route.ratio->of_medians;
  }

  std::optional<double> attempt_route(const Route& route) {
    const std::string text = route_text(route);
    if (const results::TunedRoute* const known = cache_.find(text)) {
      tuning_.routes.push_back(*known);
      return gain_of(*known);
    }
    results::TunedRoute tuned{.route = text, .failure = {}};
    const std::variant<std::monostate, Error> done = attempt([&] {
      measure(build(route), tuned);
      return std::monostate();
    });
    if (const Error* const error = std::get_if<Error>(&done)) {
      if (error->code() == ErrorCode::cancelled) throw *error;
      tuned.failure = error->line();
    }
    cache_.add(tuned);
    tuning_.routes.push_back(tuned);
    observer_.info(fmt::format("{}: {}", text, described(tuned)));
    return gain_of(tuned);
  }

  static std::string described(const results::TunedRoute& route) {
    if (!route.failure.empty()) return route.failure;
    std::string text = fmt::format("{:.4f} ms", route.median_seconds * 1e3);
    if (route.ratio) text += fmt::format(", {:.3f} times the defaults", route.ratio->of_medians);
    return text + (route.is_accurate ? "" : ", not accurate enough");
  }

  void measure(const Built& built, results::TunedRoute& route) {
    judge(*built.session, route);
    results::BenchSide sides[2];
    std::vector<std::unique_ptr<BenchSubject>> subjects;
    subjects.push_back(subject(sides[0], *defaults_.session));
    subjects.push_back(subject(sides[1], *built.session));
    measure_in_turns(subjects, request_.bench, observer_);
    for (const results::BenchSide& side : sides) {
      if (!side.failure.empty()) fail(ErrorCode::backend, "{}", side.failure);
    }
    route.ratio = ratio(times(sides[0]), times(sides[1]));
    route.median_seconds = distribution(times(sides[1]), {}).median;
    results::TunedRoute& defaults = tuning_.routes.front();
    const double seen = distribution(times(sides[0]), {}).median;
    if (defaults.median_seconds == 0 || seen < defaults.median_seconds) defaults.median_seconds = seen;
  }

  // A subject that borrows a session.
  std::unique_ptr<BenchSubject> subject(results::BenchSide& side, const exec::Session& session) const {
    auto made = std::make_unique<BenchSubject>(side, std::make_unique<LentSession>(session), sets_);
    made->make_streams(1, 0);
    return made;
  }

  static std::vector<double> times(const results::BenchSide& side) {
    std::vector<double> seconds;
    for (const results::BenchSample& sample : side.samples) seconds.push_back(sample.compute_seconds);
    return seconds;
  }

  void choose() {
    double best = 0;
    for (size_t i = 1; i < tuning_.routes.size(); ++i) {
      const double gain = gain_of(tuning_.routes[i]).value_or(0);
      if (gain <= best) continue;
      best = gain;
      tuning_.best = i;
    }
  }

  TuneRequest request_;
  Observer& observer_;
  LoadedModel loaded_;
  TuneCache cache_;
  Stopwatch watch_;
  Diagnostics findings_;
  exec::BackendPtr backend_;
  std::vector<std::vector<exec::Feed>> sets_;
  tensor::NamedData expected_;
  Built defaults_;
  results::Tuning tuning_;
};

// The route of a text that route_text() made.
Route route_of(const std::string& text, const std::vector<Knob>& knobs) {
  Route route;
  for (const Knob& knob : knobs) {
    for (const std::string& value : knob.values) {
      const std::string word = fmt::format("-{}={}", knob.name, value);
      if ((" " + text + " ").find(" " + word + " ") != std::string::npos) route.emplace_back(knob.name, value);
    }
  }
  return route;
}

// Builds the plan of a route.
void save_plan(const TuneRequest& request, const std::string& text, const std::string& path, Observer& observer) {
  exec::SessionOptions options = request.bench.session;
  const Route route = route_of(text, request.knobs);
  const std::string model = request.choose ? request.choose(route, options.settings) : "";
  if (!request.choose) apply_route(route, options.settings);
  const LoadedModel loaded = load_model(model.empty() ? request.bench.model : ModelSource{.path = model}, observer);
  observer.info("Building engine: " + printable(path));
  Diagnostics told;
  exec::find_backend(request.bench.backend, options.search)->build_plan(loaded.model, options, path, told);
}

}  // namespace

results::Tuning tune(const TuneRequest& request, Observer& observer) {
  check_bench(request.bench);
  const TaskThreads threads(request.bench.session.threads);
  results::Tuning tuning = Tuner(request, observer).run();
  const std::string& plan = request.bench.save_plan;
  if (request.only_lists || plan.empty()) return tuning;
  save_plan(request, tuning.best ? tuning.routes[*tuning.best].route : "", plan, observer);
  for (size_t i = 0; request.saves_all && i < tuning.routes.size(); ++i) {
    if (tuning.routes[i].failure.empty())
      save_plan(request, tuning.routes[i].route, fmt::format("{}.{}", plan, i), observer);
  }
  return tuning;
}

}  // namespace assay::tasks
