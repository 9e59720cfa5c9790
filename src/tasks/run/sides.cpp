#include "tasks/run/sides.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "remote/isolated_backend.h"

namespace assay::tasks {
namespace {

// `onnxrt-runner-N0-11/21/26-07:40:57`; runs of one backend are counted.
std::string runner_name(const std::string& backend, size_t number) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%m/%d/%y-%H:%M:%S", &local);
  return fmt::format("{}-runner-N{}-{}", backend, number, text.data());
}

// Names of runs that are judged together: runs of one backend differ by their numbers, whenever they ran.
class DistinctNames {
 public:
  // The name, or the same with the next number that is free.
  std::string take(std::string name) {
    while (!taken_.insert(without_time(name)).second) count_up(name);
    return name;
  }

 private:
  static constexpr std::string_view kMark = "-runner-N";

  // Digits after the mark; end == begin: not a name as ours.
  struct Number {
    size_t begin = 0;
    size_t end = 0;
  };

  static Number number_in(std::string_view name) {
    const size_t mark = name.find(kMark);
    if (mark == std::string_view::npos) return {};
    const size_t begin = mark + kMark.size();
    return {begin, std::min(name.find_first_not_of("0123456789", begin), name.size())};
  }

  static std::string without_time(const std::string& name) {
    const Number number = number_in(name);
    return number.begin == number.end ? name : name.substr(0, number.end);
  }

  static void count_up(std::string& name) {
    const Number number = number_in(name);
    size_t value = 0;
    const char* const digits = name.data();
    if (std::from_chars(digits + number.begin, digits + number.end, value).ec != std::errc())
      name += " (2)";
    else
      name.replace(number.begin, number.end - number.begin, fmt::format("{}", value + 1));
  }

  std::set<std::string, std::less<>> taken_;
};

// Makes runners of backends when they are opened. Lives as long as any of them.
class LiveSides {
 public:
  LiveSides(const RunRequest& request, std::shared_ptr<RunSubject> subject, Observer& observer)
      : backends_(request.backends),
        isolate_(request.isolate),
        timeout_seconds_(request.timeout_seconds),
        integers_(request.integers),
        subject_(std::move(subject)),
        observer_(observer) {}

  exec::RunnerPtr runner(size_t number, const std::string& name) {
    exec::BackendPtr backend = backend_named(backends_[number]);
    const auto plan = subject_->plans.find(number);
    if (plan != subject_->plans.end()) {
      return exec::plan_runner(name, std::move(backend), plan->second, subject_->session);
    }
    const ir::Model* const converted = backend->traits().takes_quantized_copies ? quantized_copy() : nullptr;
    if (converted == nullptr) {
      return exec::backend_runner(name, std::move(backend), subject_->loaded->model, subject_->session);
    }
    exec::SessionOptions session = subject_->session;
    session.path.clear();
    return exec::converted_runner(name, std::move(backend), *converted, std::move(session));
  }

 private:
  exec::BackendPtr backend_named(const std::string& name) const {
    const bool is_elsewhere = name.find('@') != std::string::npos;  // two releases do not fit into one process
    if (isolate_ || is_elsewhere || exec::make_backend(name)->loads_strangers(subject_->session.settings))
      return remote::isolated_backend({.backend = name, .timeout_seconds = timeout_seconds_});
    return exec::find_backend(name, subject_->session.search);
  }

  // Model that is run instead of the given one; null: the given one.
  const ir::Model* quantized_copy() {
    if (!integers_ || subject_->is_plan) return nullptr;
    if (!is_quantized_) {
      quantized_ = quantized({subject_->loaded->model, *integers_, subject_->inputs, subject_->session}, observer_);
      is_quantized_ = true;
    }
    return quantized_ ? &*quantized_ : nullptr;
  }

  std::vector<std::string> backends_;
  bool isolate_;
  double timeout_seconds_;
  std::optional<EngineIntegers> integers_;
  std::shared_ptr<RunSubject> subject_;
  Observer& observer_;
  std::optional<ir::Model> quantized_;
  bool is_quantized_ = false;  // quantized_ is what came of it
};

formats::SavedRuns load_saved(const RunRequest& request, Observer& observer) {
  formats::SavedRuns saved;
  for (const std::string& path : request.saved_outputs) {
    observer.info("Loading inference results from " + printable(path));
    for (formats::SavedRun& run : formats::load_results(path)) saved.push_back(std::move(run));
  }
  saved.insert(saved.end(), request.given_outputs.begin(), request.given_outputs.end());
  return saved;
}

void add_live(const RunRequest& request, Sides& sides, DistinctNames& names, Observer& observer) {
  const auto live = std::make_shared<LiveSides>(request, sides.subject, observer);
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < request.backends.size(); ++i) {
    const exec::BackendPtr backend = exec::make_backend(request.backends[i]);
    const std::string plain = backend->side_name(request.session.settings);
    const auto word = request.words.find(std::string(backend->name()));
    const std::string& called = word == request.words.end() ? plain : word->second;
    const std::string name = names.take(runner_name(called, numbers[plain]++));
    sides.runners.push_back(exec::late_runner(name, [live, i, name] { return live->runner(i, name); }));
  }
}

void add_saved(const RunRequest& request, formats::SavedRun run, Sides& sides) {
  std::vector<exec::SavedOutputs> iterations;
  for (formats::SavedIteration& iteration : run.iterations) {
    std::erase_if(iteration.outputs,
                  [&](const tensor::NamedDatum& output) { return ir::is_excluded(request.outputs, output.name); });
    for (const tensor::NamedDatum& output : iteration.outputs) sides.outputs.insert(output.name);
    iterations.push_back({std::move(iteration.outputs), iteration.runtime_seconds});
  }
  sides.runners.push_back(exec::saved_runner(std::move(run.runner), std::move(iterations)));
}

}  // namespace

Sides open_sides(const RunRequest& request, std::shared_ptr<RunSubject> subject, Observer& observer) {
  formats::SavedRuns saved = load_saved(request, observer);
  Sides sides{std::move(subject), {}, {}};
  DistinctNames names;
  for (formats::SavedRun& run : saved) run.runner = names.take(std::move(run.runner));
  add_live(request, sides, names, observer);
  for (formats::SavedRun& run : saved) add_saved(request, std::move(run), sides);
  const std::vector<exec::RunnerPtr>& runners = sides.runners;
  if (runners.size() == 1 && request.backends.empty() && !request.may_judge_nothing) {
    fail(ErrorCode::usage, "there is only one run, `{}`: nothing to compare it with", printable(runners[0]->name()));
  }
  const std::vector<std::string>& tapped = sides.subject->taps.names;
  sides.outputs.insert(tapped.begin(), tapped.end());
  return sides;
}

}  // namespace assay::tasks
