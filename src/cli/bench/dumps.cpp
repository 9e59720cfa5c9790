#include "cli/bench/dumps.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/read_text.h"
#include "base/text.h"
#include "tasks/bench/value_files.h"
#include "tasks/inspect.h"

namespace assay::cli {
namespace {

std::string plan_of(const tasks::BenchRequest& request) {
  return request.plan.empty() ? request.save_plan : request.plan;
}

void print_profiles(const tasks::BenchRequest& request, tasks::Observer& observer, Log& log) {
  const std::string plan = plan_of(request);
  if (plan.empty()) return log.info("Optimization profiles: there is no plan, the engine plans for the shapes of runs");
  const results::EngineListing listing = tasks::inspect_engine({.path = plan, .tensor_info = {}}, observer);
  for (size_t i = 0; i < listing.profiles.size(); ++i) {
    log.info(fmt::format("Optimization profile {}:", i));
    for (const results::EngineRange& range : listing.profiles[i].inputs) {
      log.info(fmt::format("    {}: min={}, opt={}, max={}", printable(range.input), fmt::join(range.least, "x"),
                           fmt::join(range.best, "x"), fmt::join(range.most, "x")));
    }
  }
}

// Takes the weights of a listing.
class WeightSink final : public results::ModelListingSink {
 public:
  void overview(const results::ModelOverview&) override {}
  void begin_graph(const results::GraphListing& graph) override {
    for (const results::InitializerInfo& weight : graph.initializers) weights.push_back(weight.info);
  }
  void begin_node(const results::NodeListing&) override {}
  void attribute(const results::AttributeListing&) override {}
  void end_node() override {}
  void end_graph() override {}

  std::vector<results::ValueInfo> weights;
};

void print_weights(const tasks::BenchRequest& request, tasks::Observer& observer, Log& log) {
  if (request.model.path.empty()) {
    fail(ErrorCode::usage, "the weights of a plan have their names in its model, which was not given");
  }
  WeightSink sink;
  tasks::InspectRequest inspected{.model = request.model};
  inspected.weights = true;
  tasks::InspectedModel(inspected, observer).list(sink);
  log.info(fmt::format("Refittable weights: {}", sink.weights.size()));
  for (const results::ValueInfo& weight : sink.weights) {
    std::vector<int64_t> dims;
    for (const results::ListedDim& dim : weight.shape) dims.push_back(dim.value.value_or(-1));
    log.info(fmt::format("    {}: {} ({})", printable(weight.name), weight.type, fmt::join(dims, "x")));
  }
}

// A size that the system tells of this process, in its lines `VmHWM:   1234 kB`.
uint64_t told_bytes(std::string_view key) {
  const std::string status = read_text("/proc/self/status");
  for (const std::string_view line : split(status, '\n')) {
    if (!line.starts_with(key)) continue;
    const size_t digit = line.find_first_of("0123456789");
    uint64_t kilobytes = 0;
    if (digit != std::string_view::npos) std::from_chars(line.data() + digit, line.data() + line.size(), kilobytes);
    return kilobytes * 1024;
  }
  return 0;
}

std::vector<std::string> words_of(const Arguments& arguments, std::string_view option) {
  std::vector<std::string> words;
  for (const std::string& list : arguments.values(option)) {
    for (const std::string_view word : split(list, ',')) words.emplace_back(word);
  }
  return words;
}

// Outputs of the model, or the values between layers.
tensor::NamedData chosen(const tasks::BenchOutcome& outcome, const std::vector<std::string>& inner, bool wants_inner) {
  tensor::NamedData values;
  for (const tensor::NamedDatum& value : outcome.outputs) {
    const bool is_inner = std::ranges::find(inner, value.name) != inner.end();
    if (is_inner == wants_inner) values.push_back(value);
  }
  return values;
}

}  // namespace

bool print_plan_version(const tasks::BenchRequest& request, const Arguments& arguments, tasks::Observer& observer,
                        Log& log) {
  if (!arguments.flag("--plan-version-only")) return false;
  if (request.plan.empty()) fail(ErrorCode::usage, "--getPlanVersionOnly is about a plan (--loadEngine)");
  const tasks::ModelSource source{.path = request.plan};
  const results::EngineListing listing =
      tasks::is_foreign_engine(source) ? tasks::inspect_foreign_engine(source, nullptr, observer)
                                       : tasks::inspect_engine({.path = request.plan, .tensor_info = {}}, observer);
  log.info(fmt::format("Plan was created by {}{}", listing.is_header ? "" : "Assay, on ", printable(listing.machine)));
  return true;
}

void dump_outcome(const tasks::BenchRequest& request, const tasks::BenchOutcome& outcome, const Arguments& arguments,
                  tasks::Observer& observer, Environment& environment) {
  const std::vector<std::string>& inner = request.keeps_inner ? outcome.inner : request.session.values;
  if (arguments.flag("--dump-optimization-profile")) print_profiles(request, observer, environment.log);
  if (arguments.flag("--dump-refit")) print_weights(request, observer, environment.log);
  if (arguments.flag("--dump-raw-bindings")) {
    tasks::save_bindings(outcome.inputs, chosen(outcome, inner, false), observer);
  }
  if (arguments.has("--save-all-debug-tensors")) {
    tasks::save_values(chosen(outcome, inner, true), words_of(arguments, "--save-all-debug-tensors"),
                       outcome.bench.model, environment.command_line, observer);
  }
  if (arguments.flag("--monitor-memory")) {
    environment.log.info(fmt::format("Memory of the process: {} now, {} at most", human_bytes(told_bytes("VmRSS:")),
                                     human_bytes(told_bytes("VmHWM:"))));
  }
}

}  // namespace assay::cli
