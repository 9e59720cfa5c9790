#include "cli/options/groups/compare.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

using compare::Function;

constexpr std::array<std::string_view, 9> kFunctionWords = {
    "simple",          "indices",           "l2", "cosine_similarity", "psnr", "snr", "distance_metrics",
    "quality_metrics", "perceptual_metrics"};
constexpr std::array kStatistics = {compare::ErrorStatistic::elementwise, compare::ErrorStatistic::max,
                                    compare::ErrorStatistic::mean, compare::ErrorStatistic::median,
                                    compare::ErrorStatistic::quantile};

OptionRow per_output(std::vector<std::string_view> names, std::string_view metavar, std::string_view help) {
  return {.names = std::move(names), .arity = Arity::one_or_more, .metavar = metavar, .help = help};
}

[[noreturn]] void fail_perceptual(std::string_view option) {
  fail(ErrorCode::unsupported, "`{}`: perceptual metrics need a neural network of their own and are not supported",
       option);
}

void add_functions(std::string_view text, std::vector<Function>& functions) {
  const auto add = [&](Function function) {
    if (std::ranges::find(functions, function) == functions.end()) functions.push_back(function);
  };
  if (text == "perceptual_metrics") fail_perceptual("--compare-func perceptual_metrics");
  if (text == "distance_metrics") return add(Function::l2), add(Function::cosine_similarity);
  if (text == "quality_metrics") return add(Function::psnr), add(Function::snr);
  for (const Function function : {Function::simple, Function::indices, Function::l2, Function::cosine_similarity,
                                  Function::psnr, Function::snr}) {
    if (compare::word(function) == text) add(function);
  }
}

compare::ErrorStatistic parse_statistic(std::string_view text) {
  std::vector<std::string_view> words;
  for (const compare::ErrorStatistic statistic : kStatistics) {
    if (compare::word(statistic) == text) return statistic;
    words.push_back(compare::word(statistic));
  }
  fail_choice("--check-error-stat", text, words);
}

double parse_bound(std::string_view option, std::string_view text) {
  const double number = parse_number(option, text);
  if (std::isnan(number)) fail(ErrorCode::usage, "option `{}`: nan is no threshold", option);
  return number;
}

double parse_share(std::string_view option, std::string_view text) {
  const bool is_percent = text.ends_with('%');
  const double number = parse_tolerance(option, is_percent ? text.substr(0, text.size() - 1) : text);
  const double share = is_percent ? number / 100 : number;
  if (share > 1) fail(ErrorCode::usage, "option `{}`: expected a share of at most 1 or 100%, found `{}`", option, text);
  return share;
}

// Reads `[NAME:]VALUE` of every use into the setting.
template <typename T, typename Parse>
void read(const Arguments& arguments, std::string_view option, compare::PerOutput<T>& setting, Parse&& parse) {
  for (const std::string& text : arguments.values(option)) {
    KeyValue parts = split_key_value(text);
    setting.set(std::move(parts.key), parse(option, parts.value));
  }
}

struct OwnedOption {
  std::string_view option;
  Function function;
};

constexpr std::array kOwned = {
    OwnedOption{"--atol", Function::simple},
    OwnedOption{"--rtol", Function::simple},
    OwnedOption{"--check-error-stat", Function::simple},
    OwnedOption{"--error-quantile", Function::simple},
    OwnedOption{"--max-exceeding", Function::simple},
    OwnedOption{"--infinities-compare-equal", Function::simple},
    OwnedOption{"--index-tolerance", Function::indices},
    OwnedOption{"--l2-threshold", Function::l2},
    OwnedOption{"--cosine-similarity-threshold", Function::cosine_similarity},
    OwnedOption{"--psnr-threshold", Function::psnr},
    OwnedOption{"--snr-threshold", Function::snr},
};

void note_unused(const Arguments& arguments, const compare::CompareOptions& options, std::vector<std::string>& notes) {
  std::vector<std::string> selected;
  for (const Function function : options.functions) selected.push_back(fmt::format("'{}'", compare::word(function)));
  for (const OwnedOption& owned : kOwned) {
    if (!arguments.has(owned.option) ||
        std::ranges::find(options.functions, owned.function) != options.functions.end()) {
      continue;
    }
    notes.push_back(
        fmt::format("Option: {} is only valid for comparison function(s): ['{}']. The selected comparison "
                    "functions are: [{}], so this option will be ignored.",
                    owned.option, compare::word(owned.function), join(selected, ", ")));
  }
}

void read_matches(const Arguments& arguments, compare::CompareOptions& options) {
  for (const std::string& text : arguments.values("--match")) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      fail(ErrorCode::usage, "--match: expected NAME_A=NAME_B, seen `{}`", printable(text));
    }
    options.matches.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  const std::string by = arguments.value("--match-by");
  if (by == "order") options.match_by = compare::MatchBy::order;
  if (by == "value") options.match_by = compare::MatchBy::value;
}

void read_thresholds(const Arguments& arguments, compare::CompareOptions& options) {
  read(arguments, "--atol", options.atol, parse_tolerance);
  read(arguments, "--rtol", options.rtol, parse_tolerance);
  read(arguments, "--check-error-stat", options.statistic,
       [](std::string_view, std::string_view text) { return parse_statistic(text); });
  read(arguments, "--error-quantile", options.quantile, [](std::string_view option, std::string_view text) {
    const double quantile = parse_tolerance(option, text);
    if (quantile > 1) fail(ErrorCode::usage, "option `{}`: expected a number in [0, 1], found `{}`", option, text);
    return quantile;
  });
  read(arguments, "--max-exceeding", options.allowed_share, parse_share);
  read(arguments, "--index-tolerance", options.index_tolerance,
       [](std::string_view option, std::string_view text) { return static_cast<int64_t>(parse_count(option, text)); });
  read(arguments, "--l2-threshold", options.l2, parse_tolerance);
  read(arguments, "--cosine-similarity-threshold", options.cosine, parse_bound);
  read(arguments, "--psnr-threshold", options.psnr_db, parse_bound);
  read(arguments, "--snr-threshold", options.snr_db, parse_bound);
}

}  // namespace

OptionGroup comparator_group() {
  return {
      .title = "Comparison",
      .description = "How the outputs of neighbouring runs are paired and judged; the second run is the reference",
      .rows = {{.names = {"--compare-func", "--compare"},
                .arity = Arity::one_or_more,
                .choices = {kFunctionWords.begin(), kFunctionWords.end()},
                .default_value = "simple",
                .help = "functions that judge each output; all must pass",
                .details = "`distance_metrics` is l2 and cosine_similarity, `quality_metrics` is psnr and snr."},
               {.names = {"--fail-fast"}, .arity = Arity::flag, .help = "stop at the first output that differs"},
               {.names = {"--no-shape-check"},
                .arity = Arity::flag,
                .help = "bring outputs of different shapes to one shape where that is possible"},
               {.names = {"--match"},
                .repeat = Repeat::append,
                .metavar = "NAME_A=NAME_B",
                .help = "pair an output of the first run with one of another name in the second"},
               {.names = {"--match-by"},
                .choices = {"name", "order", "value"},
                .default_value = "name",
                .help = "how outputs without a partner of the same name find one"},
               {.names = {"--strict-outputs"},
                .arity = Arity::flag,
                .help = "tensors that only `mark all` exposes fail, too, if one side does not have them"}},
  };
}

OptionGroup functions_group() {
  return {
      .title = "Comparison Thresholds",
      .description = "Bounds for all outputs, or for one as NAME:BOUND, where NAME may be a wildcard",
      .rows = {per_output({"--rtol", "--rel-tol"}, "[NAME:]NUMBER", "simple: relative tolerance; default: 1e-05"),
               per_output({"--atol", "--abs-tol"}, "[NAME:]NUMBER", "simple: absolute tolerance; default: 1e-05"),
               {.names = {"--tolerance"},
                .choices = {"auto"},
                .help = "simple: compute the tolerances of each output from the model's arithmetic"},
               per_output({"--check-error-stat"}, "[NAME:]STAT",
                          "simple: what must be within tolerance: elemwise, max, mean, median or quantile; default: "
                          "elemwise"),
               per_output({"--error-quantile"}, "[NAME:]NUMBER", "simple: the quantile that is checked; default: 0.99"),
               per_output({"--max-exceeding"}, "[NAME:]SHARE",
                          "simple: share of the elements that may be beyond tolerance, as 0.001 or 0.1%"),
               {.names = {"--infinities-compare-equal"},
                .arity = Arity::flag,
                .help = "simple: infinities of the same sign are equal"},
               per_output({"--index-tolerance"}, "[NAME:]N", "indices: how far an index may have moved; default: 0"),
               per_output({"--l2-threshold", "--l2-tolerance"}, "[NAME:]NUMBER", "l2: greatest norm; default: 1e-05"),
               per_output({"--cosine-similarity-threshold"}, "[NAME:]NUMBER",
                          "cosine_similarity: least value; default: 0.997"),
               per_output({"--psnr-threshold", "--psnr-tolerance"}, "[NAME:]DB", "psnr: least value; default: 30"),
               per_output({"--snr-threshold", "--snr-tolerance"}, "[NAME:]DB", "snr: least value; default: 20"),
               {.names = {"--lpips-threshold", "--lpips-tolerance"},
                .arity = Arity::one_or_more,
                .help = "",
                .hidden = true},
               {.names = {"--kl-divergence"}, .arity = Arity::flag, .help = "measure the Kullback-Leibler divergence"}},
  };
}

compare::CompareOptions compare_options(const Arguments& arguments, std::vector<std::string>& notes) {
  compare::CompareOptions options;
  if (arguments.has("--lpips-threshold")) fail_perceptual("--lpips-threshold");
  options.functions.clear();
  for (const std::string& text : arguments.values("--compare-func")) add_functions(text, options.functions);
  read_thresholds(arguments, options);
  read_matches(arguments, options);
  options.infinities_equal = arguments.flag("--infinities-compare-equal");
  options.check_shapes = !arguments.flag("--no-shape-check");
  options.fail_fast = arguments.flag("--fail-fast");
  options.strict_outputs = arguments.flag("--strict-outputs");
  options.divergence = arguments.flag("--kl-divergence");
  note_unused(arguments, options, notes);
  return options;
}

bool wants_computed_tolerance(const Arguments& arguments) { return arguments.has("--tolerance"); }

bool has_default_tolerance(const Arguments& arguments) {
  constexpr std::array<std::string_view, 5> kChoices = {"--atol", "--rtol", "--tolerance", "--compare-func",
                                                        "--compare-func-script"};
  return std::ranges::none_of(kChoices, [&](std::string_view choice) {
    return !arguments.option_named(choice).empty() && arguments.has(choice);
  });
}

}  // namespace assay::cli
