#include <algorithm>
#include <array>
#include <ctime>

#include "base/error.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/running.h"
#include "cli/stopwatch.h"
#include "compare/statistics.h"
#include "report/json_run.h"
#include "report/text_run.h"

namespace assay::cli {
namespace {

// `ref-runner-N0-11/21/26-07:40:57`
std::string runner_name(const std::string& backend, size_t number) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%m/%d/%y-%H:%M:%S", &local);
  return fmt::format("{}-runner-N{}-{}", backend, number, text.data());
}

results::RunValue describe(std::string_view name, const tensor::Datum& value, bool with_stats) {
  results::RunValue result;
  result.name = name;
  result.is_tensor = value.is_tensor();
  if (value.is_tensor()) {
    const tensor::Tensor& tensor = value.tensor();
    result.type = tensor::name(value.declared());
    result.shape = tensor.shape();
    const tensor::DTypeKind kind = tensor::kind(tensor.dtype());
    const bool has_numbers = kind != tensor::DTypeKind::string && kind != tensor::DTypeKind::complex;
    if (with_stats && has_numbers) result.stats = compare::statistics(tensor);
  } else {
    result.type = value.is_sequence() ? fmt::format("sequence of {}", value.items().size())
                  : value.is_map()    ? "map"
                                      : "empty optional";
  }
  return result;
}

class Collector final : public exec::TensorSink {
 public:
  explicit Collector(results::RunnerRun& run) : run_(run) {}
  void accept(std::string_view name, const tensor::Datum& value) override {
    run_.outputs.push_back(describe(name, value, true));
  }

 private:
  results::RunnerRun& run_;
};

std::vector<std::string> output_names(const ir::Model& model) {
  std::vector<std::string> names;
  for (const ir::Use& use : model.outputs(model.main_graph())) {
    if (use.value.valid()) names.emplace_back(model.text(model[use.value].name));
  }
  return names;
}

void put_in_order(std::vector<results::RunValue>& values, const std::vector<std::string>& names) {
  std::ranges::sort(values, [&](const results::RunValue& a, const results::RunValue& b) {
    return std::ranges::find(names, a.name) < std::ranges::find(names, b.name);
  });
}

results::RunnerRun run_backend(const std::string& name, const std::string& runner, const ir::Model& model,
                               const exec::SessionOptions& options, const std::vector<exec::Feed>& feeds, Log& log) {
  results::RunnerRun run;
  run.runner = runner;
  log.start(fmt::format("{:<35} | Activating and starting inference", runner));
  const Stopwatch total;
  const exec::BackendPtr backend = exec::find_backend(name);
  const std::unique_ptr<exec::Session> session = backend->prepare(model, options);
  run.load_seconds = total.seconds();
  for (const exec::Feed& feed : feeds) run.inputs.push_back(describe(feed.name, feed.value, false));
  log.info(fmt::format("{:<35}\n---- Inference Input(s) ----\n{}", runner, report::values_text(run.inputs)));
  const std::vector<std::string> outputs = output_names(model);
  Collector collector(run);
  const Stopwatch running;
  with_frame([&] { return runner; }, [&] { session->run(feeds, outputs, collector); });
  run.run_seconds = running.seconds();
  put_in_order(run.outputs, outputs);
  return run;
}

void print(const results::RunnerRun& run, Log& log) {
  log.info(fmt::format("{:<35}\n---- Inference Output(s) ----\n{}", run.runner, report::values_text(run.outputs)));
  for (const results::RunValue& output : run.outputs) {
    if (output.stats) {
      log.info(
          fmt::format("    {}: {} | Stats: {}", run.runner, printable(output.name), report::stats_text(*output.stats)));
    }
  }
  log.finish(fmt::format("{:<35} | Completed 1 iteration(s) in {:.4g} ms | Average inference time: {:.4g} ms.",
                         run.runner, run.run_seconds * 1e3, run.run_seconds * 1e3));
}

int run(const Arguments& arguments, Environment& environment) {
  const Stopwatch total;
  const std::vector<std::string> backends = chosen_backends(arguments);
  if (backends.empty()) fail(ErrorCode::usage, "no backend is chosen: --ref or --ref-fp64");
  const exec::SessionOptions limits = session_options(arguments);
  const exec::GenerateOptions data = generate_options(arguments);
  const std::string command = printable(environment.command_line);
  environment.log.start(fmt::format("RUNNING | Command: {}", command));
  const std::string path = arguments.value("model_file");
  LoadedModel loaded = load_model(path, arguments, environment);
  require_runnable(loaded);
  const std::vector<exec::Feed> feeds = exec::generate_inputs(loaded.model, data, loaded.findings);
  print_findings(loaded.findings, environment);

  results::RunReport report;
  report.model = path;
  for (size_t i = 0; i < backends.size(); ++i) {
    report.runs.push_back(
        run_backend(backends[i], runner_name(backends[i], i), loaded.model, limits, feeds, environment.log));
    print(report.runs.back(), environment.log);
  }
  report.findings = loaded.findings.all();
  report.timings = {{"load_seconds", loaded.load_seconds}, {"total_seconds", total.seconds()}};
  if (wants_json(arguments)) write_json(arguments, environment, report::run_json(report));
  environment.log.finish(fmt::format("PASSED | Runtime: {:.3f}s | Command: {}", total.seconds(), command));
  return kExitEqual;
}

}  // namespace

Command command_run() {
  return {.path = "run",
          .summary = "run a model and show what comes out",
          .description = "Runs a model once on made-up inputs and prints shapes, types and statistics of its outputs.",
          .positionals = {model_positional()},
          .groups = {logging_group(), model_group(), onnx_load_group(), backend_group(), data_group(), limits_group(),
                     json_group()},
          .run = run};
}

}  // namespace assay::cli
