#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/values.h"
#include "cli/template/script.h"

namespace assay::cli {
namespace {

// Options that the script writes as words of the same name, by what stands for their values.
constexpr std::array<std::string_view, 16> kFlags = {"--tf32",
                                                     "--fp16",
                                                     "--bf16",
                                                     "--fp8",
                                                     "--int8",
                                                     "--sparse-weights",
                                                     "--refittable",
                                                     "--strip-plan",
                                                     "--direct-io",
                                                     "--version-compatible",
                                                     "--exclude-lean-runtime",
                                                     "--error-on-timing-cache-miss",
                                                     "--disable-compilation-cache",
                                                     "--use-dla",
                                                     "--allow-gpu-fallback",
                                                     "--weight-streaming"};
constexpr std::array<std::string_view, 2> kNumbers = {"--builder-optimization-level", "--max-aux-streams"};
constexpr std::array<std::string_view, 2> kTexts = {"--load-timing-cache", "--precision-constraints"};
struct EnumOption {
  std::string_view option;
  std::string_view type;
};
constexpr std::array kEnums = {EnumOption{"--profiling-verbosity", "ProfilingVerbosity"},
                               EnumOption{"--hardware-compatibility-level", "HardwareCompatibilityLevel"}};
constexpr std::array kEnumLists = {EnumOption{"--tactic-sources", "TacticSource"},
                                   EnumOption{"--preview-features", "PreviewFeature"}};
constexpr std::array<std::string_view, 3> kShapes = {"--trt-min-shapes", "--trt-opt-shapes", "--trt-max-shapes"};
constexpr std::string_view kPools = "--pool-limit";

std::string keyword(std::string_view option) {
  std::string word(option.substr(2));
  std::ranges::replace(word, '-', '_');
  return word;
}

std::string enum_text(std::string_view type, std::string word) {
  std::ranges::transform(word, word.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
  return fmt::format("trt.{}.{}", type, word);
}

std::string shape_list(const tensor::Shape& dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); }

// `Profile().add("x", min=[1, 3], opt=[2, 3], max=[4, 3])`; a bound that is left out is the one before it.
std::string profile_text(const Arguments& arguments, size_t number) {
  std::vector<std::string> inputs;
  std::array<std::vector<exec::InputShape>, 3> bounds;
  for (size_t i = 0; i < kShapes.size(); ++i) {
    const auto uses = arguments.occurrences(kShapes[i]);
    if (number >= uses.size()) continue;
    for (const std::string& text : uses[number]) {
      bounds[i].push_back(parse_profile_shape(kShapes[i], text));
      const std::string& name = bounds[i].back().pattern;
      if (std::ranges::find(inputs, name) == inputs.end()) inputs.push_back(name);
    }
  }
  std::string text = "Profile()";
  for (const std::string& input : inputs) {
    const auto find = [&](size_t bound) -> const tensor::Shape* {
      const auto found = std::ranges::find(bounds[bound], input, &exec::InputShape::pattern);
      return found == bounds[bound].end() ? nullptr : &found->dims;
    };
    const tensor::Shape* least = find(0) != nullptr ? find(0) : find(1) != nullptr ? find(1) : find(2);
    const tensor::Shape* best = find(1) != nullptr ? find(1) : find(0) != nullptr ? find(0) : find(2);
    const tensor::Shape* most = find(2) != nullptr ? find(2) : best;
    text += fmt::format(".add({}, min={}, opt={}, max={})", python_string(input), shape_list(*least), shape_list(*best),
                        shape_list(*most));
  }
  return text;
}

std::string profile_lines(const Arguments& arguments) {
  size_t count = 0;
  for (const std::string_view option : kShapes) count = std::max(count, arguments.occurrences(option).size());
  if (count == 0) return "";
  std::string text = "profiles = [\n";
  for (size_t i = 0; i < count; ++i) text += fmt::format("    {},\n", profile_text(arguments, i));
  return text + "]\n";
}

std::string pool_text(const Arguments& arguments) {
  std::vector<std::string> pools;
  for (const std::string& text : arguments.values(kPools)) {
    const KeyValue pool = split_key_value(text);
    if (pool.key.empty()) fail(ErrorCode::usage, "{}: expected POOL:SIZE, seen `{}`", kPools, printable(text));
    pools.push_back(fmt::format("{}: {}", enum_text("MemoryPoolType", pool.key), parse_size(kPools, pool.value, 0)));
  }
  return "{" + join(pools, ", ") + "}";
}

std::string words_of(const Arguments& arguments) {
  std::vector<std::string> words;
  if (!profile_lines(arguments).empty()) words.emplace_back("profiles=profiles");
  if (arguments.has(kPools)) words.push_back("memory_pool_limits=" + pool_text(arguments));
  for (const std::string_view option : kFlags) {
    if (arguments.has(option)) words.push_back(keyword(option) + "=True");
  }
  for (const std::string_view option : kNumbers) {
    if (!arguments.has(option)) continue;
    words.push_back(fmt::format("{}={}", keyword(option), parse_count(option, arguments.value(option), 0)));
  }
  for (const std::string_view option : kTexts) {
    const std::vector<std::string> values = arguments.values(option);
    if (values.size() > 1) fail(ErrorCode::usage, "{}: a script has one, here are {}", option, values.size());
    if (values.empty() || values[0] == "none") continue;
    words.push_back(fmt::format("{}={}", keyword(option), python_string(values[0])));
  }
  for (const auto& [option, type] : kEnums) {
    if (arguments.has(option)) words.push_back(keyword(option) + "=" + enum_text(type, arguments.value(option)));
  }
  for (const auto& [option, type] : kEnumLists) {
    if (!arguments.has(option)) continue;
    std::vector<std::string> values;
    for (const std::string& value : arguments.values(option)) values.push_back(enum_text(type, value));
    words.push_back(fmt::format("{}=[{}]", keyword(option), join(values, ", ")));
  }
  return join(words, ", ");
}

int run_template_trt_config(const Arguments& arguments, Environment& environment) {
  const std::string profiles = profile_lines(arguments);
  write_script(arguments.value("--output"),
               script_head("Creates a configuration for building engines.",
                           profiles.empty() ? "CreateConfig" : "CreateConfig, Profile") +
                   profiles + fmt::format("create_config = CreateConfig({})\n", words_of(arguments)) +
                   "\n\n@func.extend(create_config)\ndef load_config(builder, network, config):\n"
                   "    # Edit the configuration here; the function returns nothing.\n    pass\n",
               environment);
  return kExitEqual;
}

bool is_written(std::string_view name) {
  const auto has = [&](const auto& names) { return std::ranges::find(names, name) != names.end(); };
  const auto is_it = [&](const EnumOption& option) { return option.option == name; };
  return has(kFlags) || has(kNumbers) || has(kTexts) || has(kShapes) || name == kPools ||
         std::ranges::any_of(kEnums, is_it) || std::ranges::any_of(kEnumLists, is_it);
}

OptionGroup config_group() {
  OptionGroup group = engine_settings_group();
  std::erase_if(group.rows, [](const OptionRow& row) { return !is_written(canonical_name(row)); });
  group.title = "Configuration";
  group.description = "What the script sets; the engine's documentation says what it means";
  return group;
}

}  // namespace

Command command_template_trt_config() {
  return {
      .path = "template trt-config",
      .summary = "write a Python script that makes a configuration for building engines",
      .description =
          "The script has a function load_config, which gets a configuration with what the options say, and changes "
          "it. It imports the Python package of this program, or Polygraphy where that is not installed.",
      .positionals = {optional_model_positional()},
      .groups = {logging_group(),
                 {.title = "Script", .description = "What is written", .rows = {script_output_row()}},
                 config_group()},
      .run = run_template_trt_config,
      .examples = {"assay template trt-config --bf16 --trt-min-shapes x:[1,3] --trt-max-shapes x:[8,3] -o "
                   "config.py"}};
}

}  // namespace assay::cli
