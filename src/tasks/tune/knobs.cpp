#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "exec/backend.h"
#include "tasks/tune.h"

namespace assay::tasks {
namespace {

constexpr std::string_view kLeft = "default";  // the value of a knob that is left to TensorRT
constexpr std::string_view kBuildRoute = "build-route";

std::vector<std::string> levels() { return {"3", "0", "1", "2", "4", "5"}; }

Knob find_knob(const std::vector<Knob>& knobs, std::string_view name, std::string_view backend) {
  const auto found = std::ranges::find(knobs, name, &Knob::name);
  if (found != knobs.end()) return *found;
  if (builds_foreign_engines(backend))
    return {.name = std::string(name), .values = {std::string(kLeft)}, .is_open = true};
  std::vector<std::string> names;
  for (const Knob& knob : knobs) names.push_back(knob.name);
  fail(ErrorCode::usage, "there is no knob `{}`; expected one of {}", printable(name), join(names, ", "));
}

// `[a|b]`, or one value.
std::vector<std::string> values_of(std::string_view text) {
  const bool is_list = text.starts_with('[') && text.ends_with(']');
  std::vector<std::string> values;
  if (!is_list) return {std::string(text)};
  for (const std::string_view value : split(text.substr(1, text.size() - 2), '|')) values.emplace_back(value);
  return values;
}

Knob parse_knob(const std::vector<Knob>& known, std::string_view word, std::string_view backend) {
  const size_t sign = word.find('=');
  if (!word.starts_with('-') || sign == std::string_view::npos || sign + 1 == word.size())
    fail(ErrorCode::usage, "expected -KNOB=VALUE or -KNOB=[VALUE|VALUE], seen `{}`", printable(word));
  const Knob knob = find_knob(known, word.substr(1, sign - 1), backend);
  Knob chosen{.name = knob.name, .values = values_of(word.substr(sign + 1)), .is_open = knob.is_open};
  for (const std::string& value : chosen.values) {
    if (knob.is_open || std::ranges::find(knob.values, value) != knob.values.end()) continue;
    fail(ErrorCode::usage, "knob `{}` has no value `{}`; expected one of {}", knob.name, printable(value),
         join(knob.values, ", "));
  }
  if (chosen.values.size() == 1) return chosen;
  // The default comes first, as routes are held against it.
  std::erase(chosen.values, knob.values.front());
  chosen.values.insert(chosen.values.begin(), knob.values.front());
  return chosen;
}

}  // namespace

std::string route_text(const Route& route) {
  std::string text;
  for (const auto& [knob, value] : route) text += fmt::format("{}-{}={}", text.empty() ? "" : " ", knob, value);
  return text;
}

bool builds_foreign_engines(std::string_view backend) {
  const exec::BackendTraits traits = exec::make_backend(backend)->traits();
  return traits.builds_engines && !traits.has_plans;
}

std::vector<Knob> knobs_of(std::string_view backend) {
  if (builds_foreign_engines(backend)) return {{"level", levels(), "how long tactics are measured"}};
  return {{"tactics", {"first", "measured"}, "the first tactic that computes a layer, or the fastest of all"},
          {"level", levels(), "how long tactics are measured"},
          {"without", {"none"}, "a tactic or a family of kernels that is not used, as conv.onednn", true},
          {"bf16", {"off", "on"}, "bfloat16 where it is faster"},
          {"strict", {"off", "on"}, "nothing but the order of sums may change bits"}};
}

std::vector<Knob> parse_knobs(std::string_view expression, std::string_view backend) {
  const std::vector<Knob> known = knobs_of(backend);
  std::vector<Knob> knobs;
  for (const std::string_view word : split(expression, ' ')) {
    if (word.empty()) continue;
    Knob knob = parse_knob(known, word, backend);
    if (std::ranges::find(knobs, knob.name, &Knob::name) != knobs.end())
      fail(ErrorCode::usage, "knob `{}` is there twice", knob.name);
    knobs.push_back(std::move(knob));
  }
  return knobs;
}

void apply_route(const Route& route, exec::Settings& settings) {
  const std::vector<Knob> known = knobs_of("engine");
  for (const auto& [knob, value] : route) {
    if (std::ranges::find(known, knob, &Knob::name) == known.end() && value != kLeft) {
      const std::string before = settings.text(kBuildRoute);
      settings.set(std::string(kBuildRoute),
                   {fmt::format("{}{}-{}={}", before, before.empty() ? "" : " ", knob, value)});
    }
    if (knob == "tactics" && value == "measured") settings.set("measure-tactics", {});
    if (knob == "level") settings.set("builder-optimization-level", {value});
    if (knob == "without" && value != "none") settings.set("exclude-tactics", {value});
    if ((knob == "bf16" || knob == "strict") && value == "on") settings.set(knob, {});
  }
}

}  // namespace assay::tasks
