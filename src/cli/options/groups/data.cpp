#include "cli/options/groups/data.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

double finite(std::string_view option, std::string_view text) {
  const double number = parse_number(option, text);
  if (!std::isfinite(number)) fail(ErrorCode::usage, "{}: bounds must be finite, seen `{}`", option, printable(text));
  return number;
}

// `[NAME:][MIN,MAX]`
exec::InputRange parse_range(std::string_view text) {
  const size_t bracket = text.rfind('[');
  const bool is_list = bracket != std::string_view::npos && text.back() == ']';
  const bool has_name = bracket > 0;
  if (!is_list || (has_name && text[bracket - 1] != ':')) {
    fail(ErrorCode::usage, "--val-range: expected [NAME:][MIN,MAX], seen `{}`", printable(text));
  }
  const std::vector<std::string_view> bounds = split(text.substr(bracket + 1, text.size() - bracket - 2), ',');
  if (bounds.size() != 2) {
    fail(ErrorCode::usage, "--val-range: expected two numbers, seen {} in `{}`", bounds.size(), printable(text));
  }
  const auto trim = [](std::string_view word) {
    const size_t begin = word.find_first_not_of(' ');
    return begin == std::string_view::npos ? word : word.substr(begin, word.find_last_not_of(' ') - begin + 1);
  };
  exec::InputRange range;
  range.pattern = has_name ? text.substr(0, bracket - 1) : "";
  range.low = finite("--val-range", trim(bounds[0]));
  range.high = finite("--val-range", trim(bounds[1]));
  if (range.low > range.high) {
    fail(ErrorCode::usage, "--val-range: the least value is above the greatest in `{}`", printable(text));
  }
  return range;
}

// The older pairs of options: both have their default once one of them is given.
std::optional<exec::InputRange> parse_pair(const Arguments& arguments, std::string_view low, std::string_view high,
                                           exec::InputRange defaults) {
  if (!arguments.has(low) && !arguments.has(high)) return std::nullopt;
  if (arguments.has(low)) defaults.low = finite(low, arguments.value(low));
  if (arguments.has(high)) defaults.high = finite(high, arguments.value(high));
  if (defaults.low > defaults.high) fail(ErrorCode::usage, "{} is above {}", low, high);
  return defaults;
}

}  // namespace

OptionGroup data_group(std::vector<std::string_view> shape_options) {
  const auto bound = [](std::string_view name, std::string_view help) {
    return OptionRow{.names = {name}, .metavar = "NUMBER", .help = help, .hidden = true};
  };
  return {
      .title = "Data Loader",
      .description = "The generated inputs",
      .rows = {{.names = {"--seed"}, .default_value = "1", .help = "seed of the generated inputs"},
               {.names = std::move(shape_options),
                .arity = Arity::one_or_more,
                .repeat = Repeat::append,
                .metavar = "NAME:[DIM,...]",
                .help = "shapes of inputs whose dims the model leaves open; names may be wildcards"},
               {.names = {"--val-range"},
                .arity = Arity::one_or_more,
                .metavar = "[NAME:][MIN,MAX]",
                .help = "least and greatest value, for all inputs or for those of a name; default: [0,1]"},
               bound("--int-min", "least value of integers; older form of --val-range"),
               bound("--int-max", "greatest value of integers"),
               bound("--float-min", "least value of floats"),
               bound("--float-max", "greatest value of floats"),
               {.names = {"--sensible-inputs"},
                .arity = Arity::flag,
                .help = "draw indices from the whole table that they index, and masks of ones",
                .details = "Without it the values are those that the peer draws for the same seed, except that indices "
                           "beyond their table are wrapped into it."}},
  };
}

std::vector<OptionRow> saved_input_rows() {
  const auto file = [](std::vector<std::string_view> names, Arity arity, std::string_view help) {
    return OptionRow{.names = std::move(names), .arity = arity, .metavar = "FILE", .help = help, .is_file = true};
  };
  return {
      file({"--load-inputs", "--load-input-data"}, Arity::one_or_more, "files of inputs, instead of generated ones"),
      file({"--data-loader-script"}, Arity::one,
           "Python script (FILE[:FUNCTION], default function load_data) that provides the inputs"),
      {.names = {"--cast-inputs"},
       .arity = Arity::flag,
       .help = "convert inputs that were loaded to the types that the model declares, where no value is lost "
               "(rounding between floating types is none)"},
      {.names = {"--fit-inputs"},
       .arity = Arity::flag,
       .help = "pair loaded inputs also by parts of names or by order, convert and reshape them",
       .hidden = true},
      {.names = {"--data-loader-func-name"},
       .metavar = "NAME",
       .help = "older form of the function in --data-loader-script",
       .hidden = true},
      {.names = {"--data-loader-backend-module"},
       .choices = {"numpy", "torch"},
       .default_value = "numpy",
       .help = "whose random stream the generated inputs come from",
       .hidden = true}};
}

exec::GenerateOptions generate_options(const Arguments& arguments, std::string_view shape_option) {
  exec::GenerateOptions options;
  const int64_t seed = parse_integer("--seed", arguments.value("--seed"));
  if (seed < 0 || seed > std::numeric_limits<uint32_t>::max()) {
    fail(ErrorCode::usage, "--seed must be between 0 and 4294967295, seen {}", seed);
  }
  options.seed = static_cast<uint64_t>(seed);
  if (arguments.knows("--max-memory") && arguments.has("--max-memory")) {
    options.max_bytes = parse_size("--max-memory", arguments.value("--max-memory"));
  }
  for (const std::string& text : arguments.values(shape_option)) {
    if (text.ends_with(":auto")) continue;  // the type that the model says
    options.shapes.push_back(parse_input_shape(shape_option, text));
  }
  for (const std::string& text : arguments.values("--val-range")) options.ranges.push_back(parse_range(text));
  options.integer_range = parse_pair(arguments, "--int-min", "--int-max", {.low = 1, .high = 25});
  options.float_range = parse_pair(arguments, "--float-min", "--float-max", {.low = -1, .high = 1});
  options.is_sensible = arguments.flag("--sensible-inputs");
  return options;
}

}  // namespace assay::cli
