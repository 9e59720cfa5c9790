#include "cli/convert/target.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "cli/convert/conversion.h"
#include "cli/options/groups/engine.h"
#include "cli/options/groups/model_output.h"
#include "cli/options/groups/run.h"
#include "onnx/text.h"

namespace assay::cli {
namespace {

constexpr std::string_view kNetwork = "onnx-like-trt-network";
constexpr std::array<std::string_view, 3> kEngineSuffixes = {".engine", ".plan", ".trt"};

std::string suffix_of(const std::string& path) { return to_lower(std::filesystem::path(path).extension().string()); }

bool is_onnx_target(const Arguments& arguments) {
  const std::string kind = arguments.value("--convert-to");
  if (!kind.empty()) return kind == "onnx";
  const std::string output = arguments.value("--output");
  if (output.empty() || is_output_folder(output)) return false;
  const std::string suffix = suffix_of(output);
  const bool is_engine = std::ranges::find(kEngineSuffixes, suffix) != kEngineSuffixes.end();
  if (suffix != ".onnx" && !is_engine && !onnx::is_text_file(output)) {
    fail(ErrorCode::usage,
         "--output: `{}` does not say what to convert to: expected .onnx, .onnxtxt, .engine or .plan, or "
         "--convert-to",
         printable(output));
  }
  return !is_engine;
}

std::string_view conversion_suffix(const Arguments& arguments, Target target) {
  std::string_view chosen;
  for (const Conversion& conversion : conversions()) {
    const std::string_view suffix = conversion.suffix(arguments, target);
    if (!suffix.empty() && !chosen.empty()) {
      fail(ErrorCode::usage, "{} and {} are both requested: convert to one of them, and the result to the other",
           chosen, suffix);
    }
    if (!suffix.empty()) chosen = suffix;
  }
  return chosen;
}

Target target_of(const Arguments& arguments) {
  if (is_onnx_target(arguments)) return Target::onnx;
  const bool names_file = arguments.has("--output") && !is_output_folder(arguments.value("--output"));
  if (arguments.has("--convert-to") || names_file) return Target::engine;
  return conversion_suffix(arguments, Target::open).empty() ? Target::engine : Target::onnx;
}

void refuse_engine_settings(const Arguments& arguments) {
  for (const OptionRow& row : engine_build_group().rows) {
    const std::string_view name = canonical_name(row);
    if (arguments.has(name)) fail(ErrorCode::usage, "{} is about engines, and the output is an ONNX model", name);
  }
}

ConversionTarget network_target(const Arguments& arguments) {
  for (const Conversion& conversion : conversions()) {
    const std::string_view suffix = conversion.suffix(arguments, Target::onnx);
    if (!suffix.empty())
      fail(ErrorCode::usage, "--convert-to {} shows the model's layers, without {}", kNetwork, suffix);
  }
  refuse_engine_settings(arguments);
  return {.output = model_output_path(arguments, arguments.value("model_file"), "network", {.may_be_folder = true}),
          .is_network = true};
}

}  // namespace

ConversionTarget conversion_target(const Arguments& arguments) {
  if (arguments.value("--convert-to") == kNetwork) return network_target(arguments);
  const Target target = target_of(arguments);
  const std::string_view suffix = conversion_suffix(arguments, target);
  const std::string model = arguments.value("model_file");
  if (target == Target::engine) {
    if (arguments.has("--clip-casts"))
      fail(ErrorCode::usage, "--clip-casts edits an ONNX model, and the output is an engine");
    const std::string name = std::filesystem::path(model).stem().string() + ".engine";
    const auto is_own = [&](const std::string& path) { return tasks::is_plan_of(path, model); };
    return {.output = model_output_path(arguments, model, name, {true, is_own}), .is_engine = true};
  }
  refuse_engine_settings(arguments);
  const bool is_edited = arguments.flag("--shape-inference") || !parse_outputs(arguments).is_empty() ||
                         !parse_interface_types(arguments).empty();
  if (suffix.empty() && !is_edited && !arguments.has("--output")) {
    fail(ErrorCode::usage, "there is nothing to change: name the output with --output FILE");
  }
  const std::string same_name = std::filesystem::path(model).stem().string() + ".onnx";
  const bool is_same = suffix.empty() && arguments.has("--output");  // a folder, or a path with the name
  const std::string_view what = is_same ? same_name : suffix.empty() ? "changed" : suffix;
  return {.output = model_output_path(arguments, model, what, {.may_be_folder = true})};
}

}  // namespace assay::cli
