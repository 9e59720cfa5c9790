// Times a model on several backends side by side, each in a process of its own:
// engine_bench MODEL SECONDS [BACKEND[=MODEL]...] [+SETTING[=VALUE]...] [threads=N]
// A backend may have a model of its own, of the same inputs and outputs. `profiled`, behind a backend, is the same
// session once more, with the time of each layer measured. Settings (`+measure-tactics`,
// `+openvino-mode=PERFORMANCE`) are for the backends that know them. The first run of each, which takes fresh memory,
// does not count, and then there are three turns at least. Small models are run for a while in each turn. A line for
// each backend: its name, least and median milliseconds of a run, the number of runs; with one backend, the layers with
// the least time of each, longest first.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include "exec/generated_inputs.h"
#include "remote/isolated_backend.h"
#include "support/loaded_model.h"

namespace {

using namespace assay;

constexpr double kTurn = 30;  // milliseconds at least, so that caches are what they are in a loop
constexpr std::chrono::milliseconds kMostTurn(600);  // of models that compute next to nothing
constexpr int kLeastTurns = 3;

class Nothing final : public exec::TensorSink {
 public:
  void accept(std::string_view, const tensor::Datum&) override {}
};

// The time that a process has spent on processors, in milliseconds.
class ProcessClock {
 public:
  explicit ProcessClock(pid_t process) { clock_getcpuclockid(process, &clock_); }
  double now() const {
    timespec time{};
    clock_gettime(clock_, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
  }

 private:
  clockid_t clock_ = CLOCK_MONOTONIC;
};

std::set<pid_t> child_processes() {
  std::ifstream file(fmt::format("/proc/self/task/{}/children", getpid()));
  return {std::istream_iterator<pid_t>(file), std::istream_iterator<pid_t>()};
}

struct Side {
  std::string name;
  std::shared_ptr<exec::Backend> backend;
  std::shared_ptr<exec::Session> session;
  std::unique_ptr<exec::Execution> execution;
  std::optional<ProcessClock> clock = std::nullopt;
  bool has_one_thread = false;
  std::vector<double> milliseconds = {};

  void run(const std::vector<exec::Feed>& feeds, const std::vector<std::string>& outputs) {
    Nothing sink;
    const bool counts = clock && has_one_thread;
    const double before = counts ? clock->now() : 0;
    execution->run(feeds, outputs, sink);
    const double wall = execution->seconds() * 1e3;
    constexpr double kLeast = 0.5;  // milliseconds; of shorter runs the clock of another process may know nothing yet
    milliseconds.push_back(counts && wall > kLeast ? std::min(wall, clock->now() - before) : wall);
  }

  // Waits until its threads are asleep: some look for work long after a run, and take the next side's time.
  void rest() const {
    constexpr std::chrono::milliseconds kPause(5);
    constexpr double kAsleep = 0.2;  // milliseconds of a pause
    for (int i = 0; i < 40; ++i) {
      const double before = clock ? clock->now() : 0;
      std::this_thread::sleep_for(kPause);
      if (i > 0 && (!clock || clock->now() - before < kAsleep)) return;
    }
  }
};

// Of several runs, the least of each layer.
void keep_least(std::vector<exec::LayerSeconds>& least, const std::vector<exec::LayerSeconds>& layers) {
  if (least.empty()) least = layers;
  for (size_t i = 0; i < layers.size(); ++i) least[i].seconds = std::min(least[i].seconds, layers[i].seconds);
}

void print_layers(std::vector<exec::LayerSeconds> layers) {
  double sum = 0;
  for (const exec::LayerSeconds& layer : layers) sum += layer.seconds;
  std::ranges::sort(layers, std::ranges::greater(), &exec::LayerSeconds::seconds);
  for (const exec::LayerSeconds& layer : layers) {
    std::printf("%9.1f us  %-20s %s\n", layer.seconds * 1e6, layer.op.c_str(), layer.layer.c_str());
  }
  std::printf("%9.1f us  in all\n", sum * 1e6);
}

void set(exec::SessionOptions& session, const std::string& setting) {
  const size_t end = std::min(setting.find('='), setting.size());
  session.settings.set(setting.substr(0, end), {setting.substr(std::min(end + 1, setting.size()))});
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const ir::Model model = testing_support::loaded(words[1]);
  const double seconds = std::atof(words[2]);
  std::vector<std::string> names;
  exec::SessionOptions session;
  for (const std::string& word : std::vector<std::string>(words + 3, words + count)) {
    if (word.starts_with("threads="))
      session.threads = static_cast<unsigned>(std::atoi(word.c_str() + 8));
    else if (word[0] == '+')
      set(session, word.substr(1));
    else
      names.push_back(word);
  }
  if (names.empty()) names = {"engine", "onnxrt", "openvino"};
  Diagnostics findings;
  exec::GenerateOptions options;
  const std::vector<exec::Feed> feeds = exec::generate_inputs(exec::signature_of(model), options, findings);
  std::vector<std::string> outputs;
  for (const exec::Port& output : exec::signature_of(model).outputs) outputs.push_back(output.name);
  std::vector<Side> sides;
  for (const std::string& name : names) {
    if (name == "profiled" && !sides.empty()) {
      Side side{.name = name, .backend = sides.back().backend, .session = sides.back().session, .execution = nullptr};
      side.execution = side.session->make_execution({.profiles = true});
      side.clock = sides.back().clock;
      side.has_one_thread = session.threads == 1;
      sides.push_back(std::move(side));
      continue;
    }
    const std::set<pid_t> others = child_processes();
    const size_t end = std::min(name.find('='), name.size());
    Side side{name.substr(0, end), remote::isolated_backend({.backend = name.substr(0, end)}), nullptr, nullptr};
    side.session = end == name.size()
                       ? side.backend->prepare(model, session, findings)
                       : side.backend->prepare(testing_support::loaded(name.substr(end + 1)), session, findings);
    side.execution = side.session->make_execution({.profiles = names.size() == 1});
    for (const pid_t child : child_processes()) {
      if (!others.contains(child)) side.clock.emplace(child);
    }
    side.has_one_thread = session.threads == 1;
    sides.push_back(std::move(side));
  }
  for (Side& side : sides) {
    side.run(feeds, outputs);
    side.milliseconds.clear();
  }
  std::vector<exec::LayerSeconds> least;
  int turns = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  do {
    std::ranges::rotate(sides, sides.begin() + 1);  // so that none always follows the same one
    for (Side& side : sides) {
      const auto late = std::chrono::steady_clock::now() + kMostTurn;
      for (double taken = 0; taken < kTurn && (taken == 0 || std::chrono::steady_clock::now() < late);) {
        side.run(feeds, outputs);
        taken += side.milliseconds.back();
      }
      if (sides.size() == 1) keep_least(least, side.execution->profile());
      side.rest();
    }
  } while (++turns < kLeastTurns || std::chrono::steady_clock::now() < end);
  for (Side& side : sides) {
    std::ranges::sort(side.milliseconds);
    std::printf("%-9s %9.4f %9.4f %6zu\n", side.name.c_str(), side.milliseconds.front(),
                side.milliseconds[side.milliseconds.size() / 2], side.milliseconds.size());
  }
  if (sides.size() == 1) print_layers(std::move(least));
  return 0;
}
