#include "cli/convert/trials.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

// `snr:30` dB at least, or `top1:-0.5%` of rows at most.
std::optional<convert::ErrorBudget> error_budget(const Arguments& arguments) {
  if (!arguments.has("--budget")) return std::nullopt;
  const std::string text = arguments.value("--budget");
  const KeyValue parts = split_key_value(text);
  const bool is_share = parts.key == "top1" && parts.value.starts_with('-') && parts.value.ends_with('%');
  if (parts.key != "snr" && !is_share)
    fail(ErrorCode::usage, "--budget: expected snr:DB or top1:-SHARE%, seen `{}`", printable(text));
  if (!is_share) return convert::ErrorBudget{convert::ErrorBudget::Metric::snr, parse_number("--budget", parts.value)};
  const double percent = parse_number("--budget", parts.value.substr(1, parts.value.size() - 2));
  constexpr double kPercent = 100;
  if (!(percent >= 0 && percent <= kPercent))
    fail(ErrorCode::usage, "--budget: expected a share of 0 to 100%, seen {}%", percent);
  return convert::ErrorBudget{convert::ErrorBudget::Metric::top1, percent / kPercent};
}

}  // namespace

OptionGroup trials_group() {
  return {.title = "Sensitivity",
          .description = "With --int8, --fp8 or --weights: layers that cost the outputs most (docs/weights.md)",
          .rows = {{.names = {"--sensitivity"},
                    .arity = Arity::flag,
                    .help = "convert each layer alone, too, and tell what that does to the outputs"},
                   {.names = {"--budget"},
                    .metavar = "METRIC:BOUND",
                    .help = "leave out the fewest layers, those that cost most, so that the outputs keep snr:DB, or at "
                            "most top1:-SHARE% of their rows have another greatest element"}}};
}

convert::LayerTrials layer_trials(const Arguments& arguments) {
  convert::LayerTrials trials{.budget = error_budget(arguments)};
  trials.are_wanted = trials.budget || arguments.flag("--sensitivity");
  return trials;
}

void check_trials(const Arguments& arguments) {
  const bool is_at_home = arguments.flag("--int8") || arguments.flag("--fp8") || arguments.has("--weights");
  for (const std::string_view option : {"--sensitivity", "--budget"}) {
    if (arguments.has(option) && !is_at_home) fail(ErrorCode::usage, "{} needs --int8, --fp8 or --weights", option);
  }
  static_cast<void>(layer_trials(arguments));
}

}  // namespace assay::cli
