#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "cli/log_observer.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "report/json_reports.h"
#include "tasks/ranges.h"

namespace assay::cli {
namespace {

constexpr size_t kMostListed = 10;

// One kind of loss in one type.
struct Loss {
  std::string_view text;
  double (*share)(const results::ValueRange&);
};

const std::vector<Loss>& losses() {
  static const std::vector<Loss> all = {
      {"overflow float16", [](const results::ValueRange& r) { return r.float16.overflow; }},
      {"become 0 in float16", [](const results::ValueRange& r) { return r.float16.lost; }},
      {"are denormal in float16", [](const results::ValueRange& r) { return r.float16.denormal; }},
      {"overflow bfloat16", [](const results::ValueRange& r) { return r.bfloat16.overflow; }},
      {"become 0 in bfloat16", [](const results::ValueRange& r) { return r.bfloat16.lost; }},
      {"become 0 in int8 with one scale", [](const results::ValueRange& r) { return r.int8.lost; }}};
  return all;
}

std::string line_of(const results::ValueRange& range, double share) {
  return fmt::format("    `{}` ({}): {:.3g}% of its numbers; magnitudes from {:.4g} to {:.4g}", printable(range.node),
                     printable(range.op), share * 100, range.least, range.greatest);
}

void print_ranges(const results::RangeReport& report, Log& log) {
  const size_t most = log.enabled(LogLevel::verbose) ? SIZE_MAX : kMostListed;
  for (const Loss& loss : losses()) {
    std::vector<const results::ValueRange*> found;
    for (const results::ValueRange& range : report.values) {
      if (loss.share(range) > 0) found.push_back(&range);
    }
    std::ranges::stable_sort(found, [&](const auto* a, const auto* b) { return loss.share(*a) > loss.share(*b); });
    log.info(fmt::format("Layers whose numbers {}: {} of {}", loss.text, found.size(), report.values.size()));
    for (size_t i = 0; i < std::min(found.size(), most); ++i) log.info(line_of(*found[i], loss.share(*found[i])));
  }
}

struct Bound {
  std::string_view text;
  bool (*holds)(double magnitude);
};

const std::vector<Bound>& bounds() {
  static const std::vector<Bound> all = {
      {"may overflow float16", [](double magnitude) { return magnitude >= 65520; }},
      {"are denormal in float16", [](double magnitude) { return magnitude < 0x1p-14 && magnitude > 0x1p-25; }},
      {"become 0 in float16", [](double magnitude) { return magnitude <= 0x1p-25; }},
      {"may overflow bfloat16", [](double magnitude) { return magnitude >= 0x1.ffp127; }}};
  return all;
}

void print_bounds(const results::RangeReport& report, Log& log) {
  const size_t most = log.enabled(LogLevel::verbose) ? SIZE_MAX : kMostListed;
  const auto list = [&](std::string_view text, const auto& holds) {
    std::vector<std::string> lines;
    for (const results::ValueBounds& bound : report.bounds) {
      const double magnitude = std::max(std::abs(bound.low), std::abs(bound.high));
      if (!holds(magnitude)) continue;
      lines.push_back(fmt::format("    `{}` ({}): from {:.4g} to {:.4g}; steps of {:.4g} in int8",
                                  printable(bound.node), printable(bound.op), bound.low, bound.high, magnitude / 127));
    }
    log.info(fmt::format("Layers whose numbers {}: {} of {}", text, lines.size(), report.bounds.size()));
    for (size_t i = 0; i < std::min(lines.size(), most); ++i) log.info(lines[i]);
  };
  for (const Bound& bound : bounds())
    list(bound.text, [&](double magnitude) { return std::isfinite(magnitude) && bound.holds(magnitude); });
  list("have no bound that is known", [](double magnitude) { return !std::isfinite(magnitude); });
}

int run_debug_range(const Arguments& arguments, Environment& environment) {
  tasks::RangeRequest request;
  request.model = model_source(arguments.value("model_file"), arguments);
  check_input_data(arguments);
  request.inputs = input_request(arguments);
  const exec::SessionOptions session = session_options(arguments);
  request.max_memory_bytes = session.max_memory_bytes;
  request.threads = session.threads;
  request.is_static = arguments.flag("--static");
  LogObserver observer(arguments, environment);
  const results::RangeReport report = tasks::debug_range(request, observer);
  report.is_static ? print_bounds(report, environment.log) : print_ranges(report, environment.log);
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  return kExitEqual;
}

OptionGroup range_group() {
  return {.title = "Ranges",
          .description = "How they are found",
          .rows = {{.names = {"--static"},
                    .arity = Arity::flag,
                    .help = "by interval arithmetic, without running the model: for all inputs within --val-range, or "
                            "between the least and greatest of those that are given"}}};
}

}  // namespace

Command command_debug_range() {
  return {.path = "debug range",
          .summary = "find the layers whose numbers narrower types do not hold",
          .description =
              "Runs the model on the reference in float64, and lists for float16, bfloat16 and int8 the layers "
              "whose numbers would overflow, lose bits next to 0, or become 0. With --static nothing is run: it says "
              "between which numbers each layer lies, by the rules of its operator and its weights. Exit status: 0 "
              "the ranges are listed, 2 wrong usage or input, 3 the model could not be run.",
          .positionals = {model_positional()},
          .groups = {logging_group(), model_group(), onnx_load_group(), range_group(),
                     input_data_group({"--input-shapes", "--inputs"}, true), limits_group(), json_group()},
          .run = run_debug_range,
          .examples = {"assay debug range model.onnx --load-inputs inputs.json --json ranges.json"},
          .exact_names = true};
}

}  // namespace assay::cli
