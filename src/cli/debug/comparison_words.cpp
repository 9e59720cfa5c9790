#include "cli/debug/comparison_words.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/compare.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/onnx_save.h"
#include "cli/options/values.h"
#include "tasks/check.h"

namespace assay::cli {
namespace {

// Options about several runs side by side.
constexpr std::array<std::string_view, 4> kAbsent = {"--fail-fast", "--match", "--match-by", "--strict-outputs"};

constexpr std::array<std::string_view, 5> kOfCommands = {"--check", "--fail-returncode", "--ignore-fail-returncode",
                                                         "--fail-regex", "--artifacts"};

OptionGroup against_group() {
  const auto choices = backend_choices();
  return {.title = "Comparison With",
          .description = "What a backend is compared with",
          .rows = {{.names = {"--against"},
                    .choices = {choices.begin(), choices.end()},
                    .help = "another backend; default: the reference, or the second backend that is named"},
                   {.names = {"--load-outputs", "--load-results"},
                    .arity = Arity::one_or_more,
                    .metavar = "FILE",
                    .help = "saved results, which hold the values where the model is cut, as `mark all` saves them",
                    .is_file = true},
                   {.names = {"--isolate"},
                    .arity = Arity::flag,
                    .help = "run the backend in a process of its own each time, for one that crashes or hangs"}}};
}

}  // namespace

std::vector<OptionGroup> comparison_groups() {
  OptionGroup backends = without_python(backend_group());
  std::vector<OptionGroup> all = {std::move(backends), against_group()};
  for (OptionGroup& group : backend_settings_groups()) all.push_back(std::move(group));
  OptionGroup comparator = comparator_group();
  for (OptionRow& row : comparator.rows) {
    row.hidden = row.hidden || std::ranges::find(kAbsent, canonical_name(row)) != kAbsent.end();
  }
  for (OptionGroup& group : std::vector{std::move(comparator), functions_group(), limits_group()}) {
    all.push_back(std::move(group));
  }
  return all;
}

std::vector<OptionGroup> search_groups(OptionGroup own, const CheckWords& words, std::vector<OptionGroup> further) {
  std::vector<OptionGroup> all = {logging_group(),
                                  model_group(),
                                  onnx_load_group(),
                                  std::move(own),
                                  input_data_group({"--input-shapes", "--inputs"}, true),
                                  onnx_save_group(),
                                  json_group()};
  for (std::vector<OptionGroup> groups : {std::move(further), comparison_groups(), check_groups(words)}) {
    for (OptionGroup& group : groups) all.push_back(std::move(group));
  }
  return all;
}

tasks::ComparisonRequest comparison_request(const Arguments& arguments, Log& log, std::string_view for_saved) {
  tasks::ComparisonRequest request;
  std::vector<std::string> backends = chosen_backends(arguments);
  if (backends.empty() && arguments.has("--load-outputs") && !for_saved.empty()) backends.emplace_back(for_saved);
  request.saved_outputs = arguments.values("--load-outputs");
  if (backends.empty()) {
    for (const std::string_view name : {"--against", "--load-outputs", "--isolate"}) {
      if (arguments.has(name)) fail(ErrorCode::usage, "{} needs a backend: --onnxrt, --engine, ...", name);
    }
    return request;
  }
  const bool has_rival = backends.size() > 1;
  if (backends.size() > 2 || (has_rival && (arguments.has("--against") || arguments.has("--load-outputs"))) ||
      (arguments.has("--against") && arguments.has("--load-outputs"))) {
    fail(ErrorCode::usage, "a backend is compared with one thing: another backend, or --load-outputs");
  }
  for (const std::string_view name : kAbsent) {
    if (arguments.has(name)) fail(ErrorCode::usage, "{} has no meaning here", name);
  }
  request.backend = backends[0];
  if (has_rival) request.against = backends[1];
  if (arguments.has("--against")) request.against = arguments.value("--against");
  request.session = session_options(arguments);
  std::vector<std::string> notes;
  request.compare = compare_options(arguments, notes);
  for (const std::string& note : notes) log.warning(note);
  request.computes_tolerance = wants_computed_tolerance(arguments);
  request.isolate = arguments.flag("--isolate");
  if (arguments.has("--timeout")) request.timeout_seconds = parse_number("--timeout", arguments.value("--timeout"));
  return request;
}

void refuse_check(const Arguments& arguments) {
  for (const std::string_view name : kOfCommands) {
    if (arguments.has(name))
      fail(ErrorCode::usage, "{} is about a command that checks, and a backend is compared", name);
  }
}

std::string reproducing_words(const Arguments& arguments) {
  std::vector<std::string> words;
  const OptionGroup functions = functions_group();
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    const std::string_view name = canonical_name(*use.row);
    const bool is_threshold =
        std::ranges::any_of(functions.rows, [&](const OptionRow& row) { return canonical_name(row) == name; });
    const bool is_function = name == "--compare-func";
    if (!is_threshold && !is_function) continue;
    words.emplace_back(name);
    words.insert(words.end(), use.values.begin(), use.values.end());
  }
  const std::vector<std::string> backends = chosen_backends(arguments);
  if (backends.empty()) return {};
  const std::string thresholds = words.empty() ? "" : " " + join(words, " ");
  return fmt::format("assay run model.onnx --{} --load-inputs inputs.json --load-outputs expected.json{}", backends[0],
                     thresholds);
}

std::string version_lines() {
  std::string text = fmt::format("assay {}\n", ASSAY_VERSION);
  for (const tasks::BackendLibrary& found : tasks::backend_libraries()) {
    text += fmt::format("{} {}\n", found.backend, found.version);
  }
  return text;
}

}  // namespace assay::cli
