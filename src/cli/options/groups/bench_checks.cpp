#include "cli/options/groups/bench_checks.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/values.h"
#include "tasks/bench/value_files.h"

namespace assay::cli {
namespace {

constexpr std::string_view kOutputs = "--load-ref-outputs";
constexpr std::string_view kPair = "--ref-pair";
constexpr std::string_view kThreshold = "--accuracy-threshold";

OptionRow flag(std::vector<std::string_view> names, std::string_view help) {
  return {.names = std::move(names), .arity = Arity::flag, .help = help};
}

OptionRow number(std::vector<std::string_view> names, std::string_view otherwise, std::string_view help) {
  return {.names = std::move(names), .default_value = otherwise, .help = help};
}

std::vector<OptionRow> reference_rows() {
  return {
      {.names = {kOutputs, "--loadRefOutputs"},
       .repeat = Repeat::append,
       .metavar = "NAME:FILE,...",
       .help = "outputs that should come for --loadInputs, as files of their elements; exit with 1 where they do not"},
      {.names = {kPair, "--refPair"},
       .repeat = Repeat::append,
       .metavar = "N",
       .help = "what follows of --loadInputs and --loadRefOutputs is pair N, counted from 0"},
      {.names = {"--accuracy-algorithm", "--accuracyAlgorithm"},
       .choices = tasks::loss_names(),
       .default_value = "l0",
       .help = "the distance of an output from its file: the share of elements beyond --atol and --rtol, the mean "
               "difference, the mean square, the greatest, or 1 less the cosine"},
      number({kThreshold, "--accuracyThreshold"}, "", "an output fails from this distance on"),
      number({"--atol"}, "1e-5", "of l0: differences up to it do not count"),
      number({"--rtol"}, "1e-5", "of l0: likewise, in parts of the expected element")};
}

std::vector<OptionRow> loading_rows() {
  return {
      flag({"--time-deserialize", "--timeDeserialize"}, "measure how long a plan takes to be opened, and run nothing"),
      flag({"--time-refit", "--timeRefit"},
           "measure how long a plan takes to be opened with the weights of --refit-from, or of the model")};
}

std::vector<OptionRow> dump_rows() {
  return {flag({"--mark-unfused", "--markUnfusedTensorsAsDebugTensors", "--mark-unfused-tensors-as-debug-tensors"},
               "with the outputs, give the values that stand between layers, as they are"),
          {.names = {"--save-all-debug-tensors", "--saveAllDebugTensors"},
           .repeat = Repeat::append,
           .metavar = "FORMAT,...",
           .help = "write the values of --mark-debug and --mark-unfused into the current folder: summary, numpy, "
                   "string, raw"},
          flag({"--dump-raw-bindings", "--dumpRawBindingsToFile"},
               "write the elements of inputs and outputs into the current folder, a file each"),
          flag({"--dump-optimization-profile", "--dumpOptimizationProfile"}, "print the shapes of a plan's profiles"),
          flag({"--dump-refit", "--dumpRefit"}, "print the weights of the model that a plan can get anew"),
          flag({"--plan-version-only", "--getPlanVersionOnly"}, "print what built the plan, and end"),
          flag({"--monitor-memory", "--monitorMemory"}, "print how much memory the process has taken")};
}

std::vector<tasks::RawInput> files_of(std::string_view option, const std::vector<std::string>& values) {
  std::vector<tasks::RawInput> files;
  for (const std::string& list : values) {
    for (const std::string_view text : split(list, ',')) files.push_back(parse_raw_input(option, text));
  }
  return files;
}

// The files in the order in which they were typed, in pairs; without --ref-pair all are one.
std::vector<tasks::ReferencePair> read_pairs(const Arguments& arguments) {
  std::vector<tasks::ReferencePair> pairs;
  size_t place = 0;
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    const std::string_view name = canonical_name(*use.row);
    if (name == kPair) {
      place = parse_count(kPair, use.values.front(), 0);
      if (place > pairs.size()) fail(ErrorCode::usage, "{}: there is no pair {} before {}", kPair, pairs.size(), place);
      if (place == pairs.size()) pairs.emplace_back();
    }
    const bool is_input = name == "--loadInputs";
    if (!is_input && name != kOutputs) continue;
    if (pairs.empty()) pairs.emplace_back();
    std::vector<tasks::RawInput>& to = is_input ? pairs[place].inputs : pairs[place].outputs;
    for (tasks::RawInput& file : files_of(name, use.values)) to.push_back(std::move(file));
  }
  return pairs;
}

}  // namespace

tasks::RawInput parse_raw_input(std::string_view option, std::string_view text) {
  KeyValue parts = split_key_value(text);
  if (parts.key.empty() || parts.value.empty()) {
    fail(ErrorCode::usage, "{}: expected NAME:FILE, seen `{}`", option, printable(text));
  }
  return {std::move(parts.key), std::move(parts.value)};
}

OptionGroup bench_checks_group() {
  OptionGroup group = {.title = "Checks and files",
                       .description = "Outputs that should come, times of loading, and what is written besides",
                       .rows = reference_rows()};
  for (std::vector<OptionRow>& rows : std::vector{loading_rows(), dump_rows()}) {
    for (OptionRow& row : rows) group.rows.push_back(std::move(row));
  }
  return group;
}

void read_bench_checks(const Arguments& arguments, tasks::BenchRequest& request) {
  request.times_loading = arguments.flag("--time-deserialize");
  request.times_refitting = arguments.flag("--time-refit");
  request.keeps_inner = arguments.flag("--mark-unfused");
  if (!arguments.has(kOutputs)) return;
  tasks::ReferenceCheck check;
  check.pairs = read_pairs(arguments);
  for (size_t i = 0; i < check.pairs.size(); ++i) {
    if (check.pairs[i].outputs.empty()) fail(ErrorCode::usage, "pair {} has no outputs (--loadRefOutputs)", i);
  }
  if (!check.pairs.empty()) request.raw_inputs = check.pairs.front().inputs;
  check.loss = arguments.value("--accuracy-algorithm");
  check.atol = parse_number("--atol", arguments.value("--atol"));
  check.rtol = parse_number("--rtol", arguments.value("--rtol"));
  if (arguments.has(kThreshold)) check.threshold = parse_number(kThreshold, arguments.value(kThreshold));
  request.references = std::move(check);
}

}  // namespace assay::cli
