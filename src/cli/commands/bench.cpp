#include "tasks/bench.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/bench/dumps.h"
#include "cli/bench/sweep.h"
#include "cli/bench/tuning.h"
#include "cli/convert/weights.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/bench.h"
#include "cli/options/groups/bench_checks.h"
#include "cli/options/groups/calibration.h"
#include "cli/options/groups/data.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/ranks.h"
#include "cli/options/groups/trtexec.h"
#include "cli/options/remedies.h"
#include "cli/options/values.h"
#include "cli/view/graph_section.h"
#include "report/bench/json_trtexec.h"
#include "report/bench/text_bench.h"
#include "report/html/bench_page.h"
#include "report/json_reports.h"

namespace assay::cli {
namespace {

constexpr size_t kTraceLines = 5;  // at each end

// Wishes of the user besides the measurement.
struct BenchWords {
  tasks::BenchRequest request;
  uint64_t average_runs = 10;
  std::optional<double> slowest;  // of the backend's median over a rival's
};

BenchWords parse_bench(const Arguments& arguments) {
  BenchWords words{.request = bench_request(arguments),
                   .average_runs = parse_count("--avg-runs", arguments.value("--avg-runs"), 1)};
  read_build_route(arguments, words.request);
  if (!arguments.has("--fail-if-slower-than")) return words;
  words.slowest = parse_number("--fail-if-slower-than", arguments.value("--fail-if-slower-than"));
  if (!(*words.slowest > 0)) fail(ErrorCode::usage, "--fail-if-slower-than: expected a ratio above 0");
  if (words.request.rivals.empty()) fail(ErrorCode::usage, "--fail-if-slower-than needs rivals (--against)");
  return words;
}

// A file that cannot be written is told before the measurement.
void check_writable(const Arguments& arguments) {
  for (const OptionRow* row : arguments.rows()) {
    if (!row->is_output) continue;
    for (const std::string& path : arguments.values(canonical_name(*row))) {
      if (path != "-" || canonical_name(*row) != "--json") static_cast<void>(OutputFile(path));
    }
  }
  for (const tasks::RawInput& file : saved_debug_values(arguments)) static_cast<void>(OutputFile(file.path));
}

void print_lines(const std::vector<std::string>& lines, Log& log) {
  for (const std::string& line : lines) log.info(line);
}

void print_inputs(const results::Bench& bench, Log& log) {
  for (const results::RunValue& input : bench.inputs) {
    log.report(LogLevel::verbose,
               fmt::format("Input {}: {} ({})", printable(input.name), input.type, fmt::join(input.shape, "x")));
  }
}

void print_sides(const results::Bench& bench, const Arguments& arguments, Log& log) {
  for (const results::BenchSide& side : bench.sides) {
    if (!side.failure.empty()) {
      log.warning(fmt::format("{}: {}{}", side.backend, side.failure,
                              side.load_seconds == 0 ? remedy_text("library_places", arguments) : ""));
      continue;
    }
    const std::string loaded = fmt::format("{} | loaded in {:.3f} s{}{}", side.title, side.load_seconds,
                                           side.description.empty() ? "" : " | ", side.description);
    if (side.samples.empty()) {
      log.info(loaded);
      continue;
    }
    log.info(
        fmt::format("{} | warm-up: {} queries over {:.6g} ms", loaded, side.warm_up_runs, side.warm_up_seconds * 1e3));
  }
}

void print_one(const results::BenchSide& side, const BenchWords& words, std::string_view compute, Log& log) {
  if (!side.is_measured()) return;
  const size_t most = log.enabled(LogLevel::verbose) ? SIZE_MAX / 2 : kTraceLines;
  log.info("=== Trace details ===");
  log.info(fmt::format("Trace averages of {} runs:", words.average_runs));
  print_lines(report::trace_lines(side, words.average_runs, most), log);
  log.info("=== Performance summary ===");
  print_lines(report::summary_lines(side, compute), log);
}

void print_details(const tasks::BenchOutcome& outcome, const Arguments& arguments, Log& log) {
  const results::BenchSide& side = outcome.bench.sides[0];
  const bool wants_layers = arguments.has("--dump-profile") || arguments.has("--export-profile") ||
                            arguments.has("--dump-layer-info") || arguments.has("--export-layer-info");
  if (wants_layers && side.failure.empty() && side.profile.layers.empty()) {
    log.warning(side.title + " cannot tell the times of its layers");
  }
  if (arguments.has("--dump-layer-info")) {
    log.info("Layers:");
    for (const results::LayerTimes& layer : side.profile.layers) log.info(printable(layer.layer));
  }
  if (arguments.has("--dump-profile")) print_lines(report::profile_lines(side.profile), log);
  if (arguments.has("--dump-output")) print_lines(report::output_lines(outcome.outputs), log);
}

void save(const Arguments& arguments, std::string_view option, const std::string& text, Log& log) {
  const std::string path = arguments.value(option);
  log.info("Saving " + printable(path));
  OutputFile file(path);
  file.write(text);
  file.commit();
}

void save_elements(const tensor::NamedData& outputs, const tasks::RawInput& wanted, Log& log) {
  const auto found = std::ranges::find(outputs, wanted.name, &tensor::NamedDatum::name);
  if (found == outputs.end() || !found->value.is_tensor()) return;
  log.info("Saving " + printable(wanted.path));
  OutputFile file(wanted.path);
  file.write(found->value.tensor().bytes());
  file.commit();
}

void save_files(const tasks::BenchOutcome& outcome, const tasks::ModelSource& model, const Arguments& arguments,
                Environment& environment) {
  const results::BenchSide& side = outcome.bench.sides[0];
  Log& log = environment.log;
  if (wants_json(arguments)) {
    write_json(arguments, environment, report::report_json(outcome.bench, arguments.flag("--with-samples")));
  }
  if (arguments.has("--report")) {
    const std::string page = report::bench_page(outcome.bench, page_facts(environment));
    write_page(arguments, environment, with_graph(page, model, "", environment));
  }
  if (arguments.has("--export-layer-info") && !side.profile.layers.empty()) {
    save(arguments, "--export-layer-info", report::trtexec_layers(outcome.bench, outcome.outputs), log);
  }
  if (!side.is_measured()) return;
  if (arguments.has("--export-times")) save(arguments, "--export-times", report::trtexec_times(side), log);
  if (arguments.has("--export-output")) {
    save(arguments, "--export-output", report::trtexec_outputs(outcome.outputs), log);
  }
  for (const tasks::RawInput& file : saved_debug_values(arguments)) save_elements(outcome.outputs, file, log);
  if (arguments.has("--export-profile")) {
    save(arguments, "--export-profile", report::trtexec_profile(side.profile), log);
  }
}

// Tells each rival that is too far ahead.
int status_of(const results::Bench& bench, const BenchWords& words, Log& log) {
  const bool is_far =
      !std::ranges::all_of(bench.losses, [](const results::ReferenceLoss& loss) { return loss.passed; });
  if (is_far) return kExitDifferent;
  if (words.request.only_builds || words.request.times_loading) return kExitEqual;
  if (!bench.sides[0].is_measured()) return kExitUndecided;
  if (!words.slowest) return kExitEqual;
  if (bench.ratios.empty()) return kExitUndecided;
  int status = kExitEqual;
  for (const results::BenchRatio& ratio : bench.ratios) {
    const double slower = 1 / ratio.of_medians;
    if (slower <= *words.slowest) continue;
    log.error(fmt::format("{} takes {:.3f} times as long as {}; at most {:g} is allowed", bench.sides[0].backend,
                          slower, ratio.backend, *words.slowest));
    status = kExitDifferent;
  }
  return status;
}

int finish(int status, double seconds, Environment& environment) {
  const std::string_view word = status == kExitEqual ? "PASSED" : status == kExitDifferent ? "FAILED" : "UNDECIDED";
  environment.log.verdict(status == kExitEqual, fmt::format("{} | Runtime: {:.3f}s | Command: {}", word, seconds,
                                                            printable(environment.command_line)));
  return status;
}

// Prints what was measured, and what of it is to be doubted.
void print_outcome(const results::Bench& bench, const BenchWords& words, const Arguments& arguments,
                   Environment& environment) {
  Log& log = environment.log;
  print_inputs(bench, log);
  print_sides(bench, arguments, log);
  print_lines(report::loss_lines(bench), log);
  print_lines(report::load_lines(bench), log);
  if (bench.is_interleaved)
    print_lines(report::comparison_lines(bench), log);
  else if (bench.sides[0].is_measured())
    print_one(bench.sides[0], words, environment.program == "trtexec" ? "GPU Compute Time" : "Compute Time", log);
  for (const results::BenchSide& side : bench.sides) {
    if (!side.is_measured()) continue;
    for (const std::string& doubt : report::doubt_lines(side)) log.warning(doubt);
  }
}

int run_bench(const Arguments& arguments, Environment& environment) {
  const Stopwatch total;
  if (print_build_route_help(arguments, environment.log)) return kExitEqual;
  refuse_trtexec_options(arguments);
  const BenchWords words = parse_bench(arguments);
  check_writable(arguments);
  Log& log = environment.log;
  log.start(fmt::format("RUNNING | Command: {}", printable(environment.command_line)));
  const std::vector<std::string> unused = bench_options_without_effect(arguments);
  if (!unused.empty()) {
    log.warning("without effect, because they are about GPUs and how engines for them are built: " +
                join(unused, ", "));
  }
  if (const std::optional<int> status = run_sweep(words.request, arguments, environment)) {
    return finish(*status, total.seconds(), environment);
  }
  LogObserver observer(arguments, environment);
  if (print_plan_version(words.request, arguments, observer, log)) return kExitEqual;
  if (const std::optional<int> status = run_tuning(words.request, arguments, observer, environment)) {
    return finish(*status, total.seconds(), environment);
  }
  tasks::BenchOutcome outcome = tasks::bench(words.request, observer);
  results::Bench& bench = outcome.bench;
  print_outcome(bench, words, arguments, environment);
  print_details(outcome, arguments, log);
  bench.timings.emplace_back("total_seconds", total.seconds());
  save_files(outcome, words.request.model, arguments, environment);
  dump_outcome(words.request, outcome, arguments, observer, environment);
  const int status = status_of(bench, words, log);
  return finish(status, total.seconds(), environment);
}

std::vector<OptionGroup> groups() {
  std::vector<OptionGroup> all = {logging_group(), model_group(), onnx_load_group(), backend_group(), bench_group()};
  for (OptionGroup& group : backend_settings_groups()) all.push_back(std::move(group));
  OptionGroup data = data_group();
  for (OptionRow& row : saved_input_rows()) data.rows.push_back(std::move(row));
  OptionGroup limits = limits_group();
  limits.rows[0].arity = Arity::optional;  // trtexec's flag has no number
  for (OptionGroup& group :
       std::vector{std::move(data), ranks_group(), std::move(limits), engine_weights_group(), calibration_group(),
                   bench_checks_group(), tuning_group(), bench_output_group(), json_group()}) {
    all.push_back(std::move(group));
  }
  all.push_back(trtexec_group(all));
  return all;
}

}  // namespace

Command command_bench() {
  return {.path = "bench",
          .summary = "measure how long a model takes, also beside other backends",
          .description =
              "Runs a model on a backend, the built-in engine unless another is named, and prints how long that takes; "
              "further backends and those of --against are its rivals: each gets a process of its own, they run in "
              "turns, and the ratios of their times are printed with intervals. Understands trtexec's options, as "
              "--name=value too; a program that is called trtexec is this command. Exit status: 0 measured, 1 slower "
              "than allowed, 2 wrong usage or input, 3 nothing could be measured.",
          .positionals = {optional_model_positional()},
          .groups = groups(),
          .run = run_bench,
          .examples = {"assay bench model.onnx --against onnxrt,openvino",
                       "assay bench --onnx=model.onnx --shapes=x:1x3x224x224 --duration=5 --exportTimes=times.json",
                       "assay bench model.onnx --against onnxrt --fail-if-slower-than 1.05 --json result.json"},
          .exact_names = true};
}

}  // namespace assay::cli
