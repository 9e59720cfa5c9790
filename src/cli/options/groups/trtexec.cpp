#include "cli/options/groups/trtexec.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

// Flags of trtexec that only a GPU, or the engine's builder there, can honour.
constexpr std::array<std::string_view, 29> kFlagsWithoutEffect = {"--useCudaGraph",
                                                                  "--noCudaGraph",
                                                                  "--useSpinWait",
                                                                  "--noSpinWait",
                                                                  "--exposeDMA",
                                                                  "--useManagedMemory",
                                                                  "--noTF32",
                                                                  "--includeDataTransfers",
                                                                  "--separateProfileRun",
                                                                  "--directIO",
                                                                  "--explicitBatch",
                                                                  "--int4",
                                                                  "--refit",
                                                                  "--vc",
                                                                  "--versionCompatible",
                                                                  "--noBuilderCache",
                                                                  "--noCompilationCache",
                                                                  "--allowGPUFallback",
                                                                  "--allowWeightStreaming",
                                                                  "--pi",
                                                                  "--pluginInstanceNorm",
                                                                  "--distributiveIndependence",
                                                                  "--excludeLeanRuntime",
                                                                  "--cpuOnly",
                                                                  "--asyncFileReader",
                                                                  "--consistency",
                                                                  "--adjustForDLA",
                                                                  "--enablePluginOverride",
                                                                  "--ignoreParsedPluginLibs"};
constexpr std::array<std::string_view, 23> kValuesWithoutEffect = {"--output",
                                                                   "--useDLACore",
                                                                   "--profilingVerbosity",
                                                                   "--sparsity",
                                                                   "--avgTiming",
                                                                   "--minTiming",
                                                                   "--inputIOFormats",
                                                                   "--outputIOFormats",
                                                                   "--maxAuxStreams",
                                                                   "--preview",
                                                                   "--persistentCacheRatio",
                                                                   "--weightStreamingBudget",
                                                                   "--hardwareCompatibilityLevel",
                                                                   "--allocationStrategy",
                                                                   "--useRuntime",
                                                                   "--tilingOptimizationLevel",
                                                                   "--l2LimitForTiling",
                                                                   "--decomposableAttentions",
                                                                   "--tempdir",
                                                                   "--tempfileControls",
                                                                   "--leanDLLPath",
                                                                   "--layerDeviceTypes",
                                                                   "--remoteAutoTuningConfig"};

// Options that load code of TensorRT's.
constexpr std::array<std::string_view, 4> kPluginValues = {"--plugins", "--staticPlugins", "--dynamicPlugins",
                                                           "--setPluginsToSerialize"};

// Options for hardware that the engine does not know.
constexpr std::array<std::string_view, 2> kFlagsOfDla = {"--buildDLAStandalone", "--reportCapabilityDLA"};
constexpr std::string_view kPlatform = "--runtimePlatform";
constexpr std::string_view kStrip = "--stripAllWeights";  // the engine strips all where it strips any

bool is_without_effect(std::string_view name) {
  return std::ranges::find(kFlagsWithoutEffect, name) != kFlagsWithoutEffect.end() ||
         std::ranges::find(kValuesWithoutEffect, name) != kValuesWithoutEffect.end();
}

// Options that trtexec names or writes in another way.
constexpr std::array<std::string_view, 11> kBuilderValues = {
    "--minShapes",       "--optShapes",       "--maxShapes",
    "--workspace",       "--memPoolSize",     "--tacticSources",
    "--layerPrecisions", "--timingCacheFile", "--precisionConstraints",
    "--profile",         "--markDebug"};

// `NAME:1x3x224x224` with `scalar` or nothing for rank 0; a name with colons may be quoted.
exec::InputShape parse_shape(std::string_view option, std::string_view text) {
  KeyValue parts = split_key_value(text);
  if (parts.key.size() > 1 && parts.key.front() == '\'' && parts.key.back() == '\'') {
    parts.key = parts.key.substr(1, parts.key.size() - 2);
  }
  if (parts.key.empty()) fail(ErrorCode::usage, "{}: expected NAME:DIMxDIM, seen `{}`", option, printable(text));
  exec::InputShape shape{parts.key, {}};
  if (parts.value.empty() || parts.value == "scalar") return shape;
  for (const std::string_view dim : split(parts.value, 'x')) {
    const bool is_number = !dim.empty() && dim.find_first_not_of("0123456789") == std::string_view::npos;
    if (!is_number) {
      fail(ErrorCode::usage, "{}: `{}` in `{}` is no dim; expected numbers joined by x", option, printable(dim),
           printable(text));
    }
    shape.dims.push_back(parse_integer(option, dim));
  }
  return shape;
}

// The words of an option, joined by commas.
std::vector<std::string> words_of(const Arguments& arguments, std::string_view option) {
  std::vector<std::string> words;
  for (const std::string& list : arguments.values(option)) {
    for (const std::string_view word : split(list, ',')) words.emplace_back(word);
  }
  return words;
}

// The uses of an option, each about a profile of its own.
void read_profiles(const Arguments& arguments, std::string_view option, std::string name, exec::Settings& settings) {
  std::vector<std::string> shapes;
  bool is_first = true;
  for (const std::vector<std::string>& use : arguments.occurrences(option)) {
    if (!is_first) shapes.emplace_back();
    is_first = false;
    for (const std::string& list : use) {
      for (const std::string_view text : split(list, ',')) {
        shapes.push_back(input_shape_text(parse_shape(option, text)));
      }
    }
  }
  if (!shapes.empty()) settings.set(std::move(name), std::move(shapes));
}

// Without a unit, sizes are MiB.
std::string in_mebibytes(std::string_view size) {
  const bool is_number = !size.empty() && size.find_first_not_of("0123456789.") == std::string_view::npos;
  return fmt::format("{}{}", size, is_number ? "M" : "");
}

// `workspace:1024,tacticSharedMem:2M`
void read_pools(const Arguments& arguments, exec::Settings& settings) {
  std::vector<std::string> pools;
  if (arguments.has("--workspace")) pools.push_back("workspace:" + in_mebibytes(arguments.value("--workspace")));
  for (const std::string& word : words_of(arguments, "--memPoolSize")) {
    const KeyValue pool = split_key_value(word);
    std::string name = pool.key == "tacticSharedMem" ? "tactic_shared_memory" : pool.key;
    if (pool.key.starts_with("dla")) name = "dla_managed_sram";
    pools.push_back(fmt::format("{}:{}", name, in_mebibytes(pool.value)));
  }
  if (!pools.empty()) settings.set("pool-limit", std::move(pools));
}

// `+conv.onednn,-CUBLAS`: what is taken away is not used, what is added is the rule anyway.
void read_sources(const Arguments& arguments, exec::Settings& settings) {
  std::vector<std::string> excluded;
  for (const std::string& word : words_of(arguments, "--tacticSources")) {
    const bool is_ours = word.find('.') != std::string::npos;
    if (word.starts_with('-') && is_ours) excluded.push_back(word.substr(1));
  }
  if (!excluded.empty()) settings.set("exclude-tactics", std::move(excluded));
}

}  // namespace

OptionGroup trtexec_group(const std::vector<OptionGroup>& others) {
  OptionGroup group = {.title = "TensorRT", .description = "Further options of trtexec", .rows = {}};
  const auto row = [](std::string_view name, Arity arity) {
    return OptionRow{.names = {name}, .arity = arity, .help = "of trtexec", .hidden = true};
  };
  for (const std::string_view name : kFlagsWithoutEffect) group.rows.push_back(row(name, Arity::flag));
  for (const std::string_view name : kValuesWithoutEffect) group.rows.push_back(row(name, Arity::one));
  for (const std::string_view name : kPluginValues) group.rows.push_back(row(name, Arity::one));
  for (const std::string_view name : kFlagsOfDla) group.rows.push_back(row(name, Arity::flag));
  group.rows.push_back(row(kPlatform, Arity::one));
  group.rows.push_back(row(kStrip, Arity::flag));
  for (const std::string_view name : kBuilderValues) group.rows.push_back(row(name, Arity::one));
  for (OptionRow& own : group.rows) own.repeat = Repeat::append;
  const auto is_taken = [&](const OptionRow& own) {
    return std::ranges::any_of(others, [&](const OptionGroup& other) {
      return std::ranges::any_of(other.rows, [&](const OptionRow& another) {
        return std::ranges::find(another.names, own.names[0]) != another.names.end();
      });
    });
  };
  std::erase_if(group.rows, is_taken);
  return group;
}

void refuse_trtexec_options(const Arguments& arguments) {
  for (const std::string_view name : kPluginValues) {
    if (!arguments.has(name)) continue;
    fail(ErrorCode::unsupported, "`{}` loads plugins of TensorRT, which the built-in engine does not run", name);
  }
  for (const std::string_view name : kFlagsOfDla) {
    if (arguments.has(name)) fail(ErrorCode::unsupported, "`{}`: the built-in engine knows no DLA", name);
  }
  const std::string platform = arguments.knows(kPlatform) ? arguments.value(kPlatform) : "";
  if (!platform.empty() && to_lower(platform) != "sameasbuild") {
    fail(ErrorCode::unsupported, "`{}`: plans of the built-in engine are for the machine that builds them", kPlatform);
  }
}

std::vector<std::string> bench_options_without_effect(const Arguments& arguments) {
  std::vector<std::string> names;
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    const std::string name = fmt::format("`{}`", canonical_name(*use.row));
    if (!use.row->hidden || !is_without_effect(canonical_name(*use.row))) continue;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::vector<exec::InputShape> parse_trtexec_shapes(std::string_view option, std::string_view text) {
  std::vector<exec::InputShape> shapes;
  for (const std::string_view word : split(text, ',')) shapes.push_back(parse_shape(option, word));
  return shapes;
}

void add_trtexec_shapes(const Arguments& arguments, std::vector<exec::InputShape>& shapes) {
  for (const std::string_view option : {"--shapes", "--optShapes", "--minShapes", "--maxShapes"}) {
    if (!arguments.has(option) || !shapes.empty()) continue;
    const std::vector<std::vector<std::string>> uses = arguments.occurrences(option);
    const std::string chosen = arguments.value("--optimization-profile");
    const uint64_t profile = chosen.empty() ? 0 : parse_count("--optimization-profile", chosen, 0);
    const bool is_of_runs = option == "--shapes";
    for (size_t i = 0; i < uses.size(); ++i) {
      if (!is_of_runs && i != profile) continue;
      for (const std::string& list : uses[i]) {
        for (const std::string_view text : split(list, ',')) shapes.push_back(parse_shape(option, text));
      }
    }
  }
}

void read_trtexec_builder(const Arguments& arguments, exec::Settings& settings) {
  read_profiles(arguments, "--minShapes", "trt-min-shapes", settings);
  read_profiles(arguments, "--optShapes", "trt-opt-shapes", settings);
  read_profiles(arguments, "--maxShapes", "trt-max-shapes", settings);
  const bool has_profile = arguments.has("--minShapes") || arguments.has("--optShapes") || arguments.has("--maxShapes");
  if (!has_profile) read_profiles(arguments, "--shapes", "trt-opt-shapes", settings);
  if (arguments.has(kStrip)) settings.set("strip-plan", {});
  read_pools(arguments, settings);
  read_sources(arguments, settings);
  for (const auto& [option, setting] :
       {std::pair("--layerPrecisions", "layer-precisions"),
        std::pair("--precisionConstraints", "precision-constraints"), std::pair("--markDebug", "mark-debug")}) {
    if (arguments.has(option)) settings.set(setting, words_of(arguments, option));
  }
  if (!arguments.has("--timingCacheFile")) return;
  const std::string cache = arguments.value("--timingCacheFile");
  if (is_there(cache)) settings.set("load-timing-cache", {cache});
  settings.set("save-timing-cache", {cache});
}

}  // namespace assay::cli
