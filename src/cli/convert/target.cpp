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

constexpr std::array<std::string_view, 3> kEngineSuffixes = {".engine", ".plan", ".trt"};

std::string suffix_of(const std::string& path) { return to_lower(std::filesystem::path(path).extension().string()); }

// By `--convert-to`, else by the name of the output.
bool is_onnx_target(const Arguments& arguments) {
  if (arguments.has("--convert-to")) return arguments.value("--convert-to") == "onnx";
  const std::string output = arguments.value("--output");
  if (output.empty()) return false;
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

std::string_view conversion_suffix(const Arguments& arguments, bool is_onnx) {
  std::string_view chosen;
  for (const Conversion& conversion : conversions()) {
    const std::string_view suffix = conversion.suffix(arguments, is_onnx);
    if (!suffix.empty() && !chosen.empty()) {
      fail(ErrorCode::usage, "{} and {} are both requested: convert to one of them, and the result to the other",
           chosen, suffix);
    }
    if (!suffix.empty()) chosen = suffix;
  }
  return chosen;
}

}  // namespace

std::string conversion_output(const Arguments& arguments) {
  const bool is_onnx = is_onnx_target(arguments);
  const std::string_view suffix = conversion_suffix(arguments, is_onnx);
  const bool is_undecided = !arguments.has("--convert-to") && !arguments.has("--output");
  if (!is_onnx && !(is_undecided && !suffix.empty())) {
    fail(ErrorCode::unsupported, "an engine is requested: {}{}", kNoEngine,
         is_undecided ? "; for an ONNX model use --output FILE.onnx, or --fp-to-fp16, --fp-to-bf16 or --weights" : "");
  }
  const bool is_edited = arguments.flag("--shape-inference") || !parse_outputs(arguments).is_empty();
  if (suffix.empty() && !is_edited && !arguments.has("--output")) {
    fail(ErrorCode::usage, "there is nothing to change: name the output with --output FILE");
  }
  return model_output_path(arguments, arguments.value("model_file"), suffix.empty() ? "changed" : suffix);
}

}  // namespace assay::cli
