#include "backends/engine/builder_settings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "backends/engine/setting_names.h"
#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/text.h"
#include "formats/tactic_replay.h"
#include "tensor/precision_word.h"

namespace assay::backends {
namespace {

using namespace setting;
using tensor::DType;

[[noreturn]] void refuse(std::string_view setting, const std::string& message) {
  throw Error(ErrorCode::usage, message).about(field_of(setting));
}

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// A cache that is not there is an empty one, as the peer has it.
std::shared_ptr<engine::TimingCache> load_caches(const std::vector<std::string>& paths, const engine::Device& device,
                                                 Diagnostics& findings) {
  auto cache = std::make_shared<engine::TimingCache>();
  for (const std::string& path : paths) {
    if (!is_there(path)) {
      findings.warn("timing_cache", "", fmt::format("there is no timing cache `{}`", printable(path)));
      continue;
    }
    const engine::TimingCache read = load_cache(path);
    if (read.size() > 0 && !read.has(text_of(device.fingerprint()))) {
      findings.warn("timing_cache", "",
                    fmt::format("the timing cache `{}` is of another machine: it is not used", printable(path)));
    }
    cache->merge(read);
  }
  return cache;
}

formats::TacticReplay load_replay(const std::string& path) {
  return with_frame([&] { return fmt::format("loading `{}`", printable(path)); },
                    [&] { return formats::parse_tactic_replay(text_of(*MappedFile::open(path))); });
}

void check_tactic(std::string_view setting, std::string_view tactic, const engine::Device& device) {
  const std::string_view name = tactic.substr(0, tactic.find(':'));
  std::vector<std::string> known;
  for (const engine::Implementation* const implementation : device.implementations()) {
    known.emplace_back(implementation->name());
  }
  const bool is_no_kernel = name == engine::kReferenceTactic || name == engine::kPartTactic;
  if ((is_no_kernel && setting == kLoadTactics) || std::ranges::find(known, name) != known.end()) return;
  const std::optional<std::string> near = did_you_mean(name, known);
  throw Error(ErrorCode::usage, fmt::format("there is no tactic `{}`{}", printable(tactic),
                                            near ? fmt::format("; did you mean `{}`?", *near) : ""))
      .about(field_of(setting));
}

void read_tactics(const exec::Settings& settings, const engine::Device& device, engine::TacticOptions& tactics) {
  if (const std::string path = settings.text(kLoadTactics); !path.empty()) tactics.replayed = load_replay(path);
  for (const auto& [layer, tactic] : tactics.replayed) check_tactic(kLoadTactics, tactic, device);
  for (const std::string& word : settings.list(kExclude)) {
    if (!word.ends_with(".json")) {
      check_tactic(kExclude, word, device);
      tactics.excluded.push_back(word);
      continue;
    }
    for (auto& [layer, tactic] : load_replay(word)) tactics.excluded_of[layer].push_back(std::move(tactic));
  }
}

// One bound of each profile.
std::vector<std::vector<exec::InputShape>> read_shapes(const exec::Settings& settings, std::string_view name) {
  std::vector<std::vector<exec::InputShape>> shapes;
  if (settings.has(name)) shapes.emplace_back();
  for (const std::string& text : settings.list(name)) {
    if (text.empty()) {
      shapes.emplace_back();
      continue;
    }
    const std::optional<exec::InputShape> shape = exec::parse_input_shape(text);
    if (!shape) {
      throw Error(ErrorCode::usage, fmt::format("expected NAME:[DIM,...], seen `{}`", printable(text)))
          .about(field_of(name));
    }
    shapes.back().push_back(*shape);
  }
  return shapes;
}

std::vector<engine::ProfileShapes> read_profiles(const exec::Settings& settings) {
  const auto least = read_shapes(settings, kLeastShapes);
  const auto best = read_shapes(settings, kBestShapes);
  const auto most = read_shapes(settings, kMostShapes);
  std::vector<engine::ProfileShapes> profiles(std::max({least.size(), best.size(), most.size()}));
  for (size_t i = 0; i < profiles.size(); ++i) {
    if (i < least.size()) profiles[i].least = least[i];
    if (i < best.size()) profiles[i].best = best[i];
    if (i < most.size()) profiles[i].most = most[i];
  }
  return profiles;
}

// True for tactic sources of TensorRT, which are libraries for GPUs.
bool is_gpu_source(const std::string& word) {
  constexpr std::array<std::string_view, 5> kSourcesOfGpus = {"cublas", "cublas_lt", "cudnn", "edge_mask_convolutions",
                                                              "jit_convolutions"};
  return std::ranges::find(kSourcesOfGpus, to_lower(word)) != kSourcesOfGpus.end();
}

void read_sources(const exec::Settings& settings, const engine::Device& device, engine::TacticOptions& tactics,
                  Diagnostics& findings) {
  if (!settings.has(kSources)) return;
  for (const std::string& word : settings.list(kSources)) {
    if (is_gpu_source(word)) {
      findings.warn("engine_setting", "", fmt::format("the tactic source `{}` is about GPUs and has no effect", word));
      continue;
    }
    check_tactic(kSources, word, device);
    tactics.families.push_back(word);
  }
}

// `512M`, `1e9`, `1.5G`
uint64_t parse_bytes(std::string_view setting, const std::string& text) {
  constexpr std::string_view kUnits = "KMGT";
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string unit(end);
  if (!unit.empty() && (unit.back() == 'B' || unit.back() == 'b')) unit.pop_back();
  const size_t power = unit.size() == 1 ? kUnits.find(static_cast<char>(std::toupper(unit[0]))) : std::string::npos;
  const double scale = unit.empty()                 ? 1
                       : power == std::string::npos ? NAN
                                                    : std::exp2(10.0 * static_cast<double>(power + 1));
  const double bytes = number * scale;
  if (end == text.c_str() || !(bytes >= 0) || bytes > 9e18) {
    refuse(setting, fmt::format("expected a size as 512M or 8G, seen `{}`", printable(text)));
  }
  return static_cast<uint64_t>(bytes);
}

void read_pools(const exec::Settings& settings, engine::TacticOptions& tactics, Diagnostics& findings) {
  constexpr std::array<std::string_view, 5> kOtherPools = {"dla_managed_sram", "dla_local_dram", "dla_global_dram",
                                                           "tactic_dram", "tactic_shared_memory"};
  for (const std::string& text : settings.list(kPools)) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos) refuse(kPools, fmt::format("expected POOL:SIZE, seen `{}`", printable(text)));
    const std::string pool = to_lower(text.substr(0, colon));
    const uint64_t bytes = parse_bytes(kPools, text.substr(colon + 1));
    if (pool == "workspace") {
      tactics.most_workspace_bytes = bytes;
    } else if (std::ranges::find(kOtherPools, pool) != kOtherPools.end()) {
      findings.warn("engine_setting", "", fmt::format("the pool `{}` is one of GPUs and has no effect", pool));
    } else {
      refuse(kPools, fmt::format("there is no pool `{}`; expected workspace", printable(pool)));
    }
  }
}

DType parse_type(std::string_view setting, std::string_view word) {
  if (const std::optional<DType> found = tensor::find_precision(word)) return *found;
  refuse(setting, fmt::format("expected float32, bfloat16, float16 or int8, seen `{}`", printable(word)));
}

// `LAYER:TYPE`
void read_layer_type(std::string_view setting, const std::string& text, bool declares_float16,
                     engine::Precision& precision, Diagnostics& findings) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    refuse(setting, fmt::format("expected LAYER:TYPE, seen `{}`", printable(text)));
  }
  const std::string layer = text.substr(0, colon);
  const DType type = parse_type(setting, text.substr(colon + 1));
  const bool is_declared = type == DType::float16 && declares_float16;
  std::vector<std::string>& layers = type == DType::bfloat16 ? precision.bfloat16_layers
                                     : is_declared           ? precision.float16_layers
                                                             : precision.float32_layers;
  layers.push_back(layer);
  if (type == DType::float32 || &layers != &precision.float32_layers) return;
  const std::string_view reason = type == DType::int8      ? "its quantisers decide about integers"
                                  : type == DType::float16 ? kFloat16Hint
                                                           : "this engine has no arithmetic of it";
  const std::string message =
      fmt::format("the layer `{}` is computed in float32, not in {}: {}", printable(layer), tensor::name(type), reason);
  if (precision.is_obeyed) throw Error(ErrorCode::unsupported, message).about(field_of(setting));
  findings.warn("engine_precision", "", message);
}

engine::Precision read_precision(const exec::Settings& settings, const engine::LoweringRules& rules,
                                 Diagnostics& findings) {
  engine::Precision precision;
  precision.bfloat16 = settings.has(kBfloat16) || settings.has(kBest);
  const bool has_float16 = settings.has(kStrict) || rules.has(DType::float16);
  precision.float16 = settings.has(kFloat16) && has_float16 && !precision.bfloat16;
  precision.tf32 = settings.has(kTf32);
  if (settings.has(kStronglyTyped)) {
    for (const std::string_view name : {kBfloat16, kFloat16, kFloat8, kInt8, kBest, kConstraints, kLayerTypes}) {
      if (settings.has(name))
        refuse(name, "nothing is permitted besides the types of the model, which is strongly typed");
    }
  }
  bool is_left_out = false;
  std::vector<std::pair<std::string_view, std::string>> layers;
  for (const std::string& word : settings.list(kConstraints)) {
    precision.is_obeyed = precision.is_obeyed || word == "obey" || word.find(':') != std::string::npos;
    is_left_out = is_left_out || word == "none";
    const bool is_rule = word == "obey" || word == "prefer" || word == "none";
    if (!is_rule) layers.emplace_back(kConstraints, word);
  }
  for (const std::string_view setting : {kLayerTypes, kOutputTypes}) {
    for (const std::string& text : settings.list(setting)) layers.emplace_back(setting, text);
  }
  if (is_left_out && !layers.empty()) {
    findings.warn("engine_precision", "", "the precisions of layers are not used: precision-constraints is `none`");
    return precision;
  }
  const bool declares_float16 = precision.is_obeyed || has_float16;
  for (const auto& [setting, text] : layers) read_layer_type(setting, text, declares_float16, precision, findings);
  return precision;
}

void read_level(const exec::Settings& settings, engine::TacticOptions& tactics) {
  const std::optional<size_t> level = read_number(settings, kLevel);
  if (!level) return;
  if (*level > engine::kMostOptimizationLevel) {
    refuse(kLevel, fmt::format("expected a level from 0 to {}, seen {}", engine::kMostOptimizationLevel, *level));
  }
  tactics.seconds_per_tactic = engine::seconds_per_tactic(static_cast<int>(*level));
  if (*level == 0) tactics.measures = false;
}

}  // namespace

std::string field_of(std::string_view setting) {
  std::string field(setting);
  std::ranges::replace(field, '-', '_');
  return field;
}

engine::TimingCache load_cache(const std::string& path) {
  return with_frame([&] { return fmt::format("loading `{}`", printable(path)); },
                    [&] { return engine::TimingCache::parse(text_of(*MappedFile::open(path))); });
}

std::optional<size_t> read_number(const exec::Settings& settings, std::string_view name) {
  if (!settings.has(name)) return std::nullopt;
  const std::string text = settings.text(name);
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  throw Error(ErrorCode::usage, fmt::format("expected a number of at least 0, seen `{}`", printable(text)))
      .about(field_of(name));
}

engine::BuilderConfig read_builder_config(const exec::Settings& settings, const engine::Device& device, bool measures,
                                          Diagnostics& findings) {
  engine::BuilderConfig config;
  config.is_strict = settings.has(kStrict);
  config.precision = read_precision(settings, device.rules(), findings);
  config.profiles = read_profiles(settings);
  engine::TacticOptions& tactics = config.tactics;
  read_tactics(settings, device, tactics);
  engine::set_machine(config.precision, device, config.is_strict, tactics.excluded);
  read_sources(settings, device, tactics, findings);
  read_pools(settings, tactics, findings);
  tactics.most_measured = read_number(settings, kMostTactics).value_or(0);
  tactics.is_cache_complete = settings.has(kCacheOnly);
  const bool has_cache = settings.has(kLoadCache) || settings.has(kSaveCache) || tactics.is_cache_complete;
  tactics.measures = measures || settings.has(kMeasure) || settings.has(kLevel) || has_cache;
  read_level(settings, tactics);
  if (tactics.measures || has_cache) tactics.cache = load_caches(settings.list(kLoadCache), device, findings);
  return config;
}

}  // namespace assay::backends
