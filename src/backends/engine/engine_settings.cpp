#include "backends/engine/engine_settings.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/text.h"
#include "formats/tactic_replay.h"

namespace assay::backends {
namespace {

constexpr std::string_view kStrict = "strict";
constexpr std::string_view kBfloat16 = "bf16";
constexpr std::string_view kFloat16 = "fp16";
constexpr std::string_view kTf32 = "tf32";
constexpr std::string_view kInt8 = "int8";
constexpr std::string_view kMeasure = "measure-tactics";
constexpr std::string_view kLoadCache = "load-timing-cache";
constexpr std::string_view kSaveCache = "save-timing-cache";
constexpr std::string_view kLoadTactics = "load-tactics";
constexpr std::string_view kSaveTactics = "save-tactics";
constexpr std::string_view kExclude = "exclude-tactics";
constexpr std::string_view kLeast = "trt-min-shapes";
constexpr std::string_view kBest = "trt-opt-shapes";
constexpr std::string_view kMost = "trt-max-shapes";
constexpr std::string_view kProfile = "optimization-profile";
constexpr std::string_view kSaveEngine = "save-engine";

std::string field_of(std::string_view setting) {
  std::string field(setting);
  std::ranges::replace(field, '-', '_');
  return field;
}

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

engine::TimingCache load_cache(const std::string& path) {
  return with_frame([&] { return fmt::format("loading `{}`", printable(path)); },
                    [&] { return engine::TimingCache::parse(text_of(*MappedFile::open(path))); });
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
    if (read.size() > 0 && !read.has(device.fingerprint())) {
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
  const bool is_reference = name == engine::kReferenceTactic && setting == kLoadTactics;
  if (is_reference || std::ranges::find(known, name) != known.end()) return;
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
  const auto least = read_shapes(settings, kLeast);
  const auto best = read_shapes(settings, kBest);
  const auto most = read_shapes(settings, kMost);
  std::vector<engine::ProfileShapes> profiles(std::max({least.size(), best.size(), most.size()}));
  for (size_t i = 0; i < profiles.size(); ++i) {
    if (i < least.size()) profiles[i].least = least[i];
    if (i < best.size()) profiles[i].best = best[i];
    if (i < most.size()) profiles[i].most = most[i];
  }
  return profiles;
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

// What is permitted and not used on this processor.
void tell_unused(const exec::Settings& settings, Diagnostics& findings) {
  for (const auto& [name, type] : {std::pair(kFloat16, "float16"), std::pair(kTf32, "TF32")}) {
    if (!settings.has(name)) continue;
    findings.warn("engine_precision", "",
                  fmt::format("{} is permitted and not used: processors have no fast arithmetic of it", type));
  }
}

}  // namespace

std::vector<exec::Setting> declared_engine_settings() {
  using Kind = exec::Setting::Kind;
  return {
      {.name = kLeast,
       .kind = Kind::shapes,
       .help = "the least shape of each input that a plan must take; default: 1 where the model leaves a dim open; "
               "given again, it is about the next profile"},
      {.name = kBest, .kind = Kind::shapes, .help = "the shapes that a plan is tuned for; default: the least ones"},
      {.name = kMost, .kind = Kind::shapes, .help = "the greatest shapes; default: those it is tuned for"},
      {.name = kProfile,
       .alias = "useProfile",
       .help = "the number of the profile whose shapes runs have; default: the first that takes their inputs"},
      {.name = kStrict,
       .kind = Kind::flag,
       .help = "nothing but the order of sums may change the bits of a plain float32 evaluation"},
      {.name = kBfloat16, .kind = Kind::flag, .help = "permit bfloat16 for values and weights; sums stay float32"},
      {.name = kFloat16, .kind = Kind::flag, .help = "permit float16: this engine has no use for it, and says so"},
      {.name = kTf32, .kind = Kind::flag, .help = "permit TF32: likewise"},
      {.name = kInt8,
       .kind = Kind::flag,
       .help = "permit 8-bit integers: used where the model has quantisers, with or without this option"},
      {.name = kMeasure, .kind = Kind::flag, .help = "measure the tactics of each layer and keep the fastest"},
      {.name = kLoadCache,
       .kind = Kind::input_files,
       .help = "files with what tactics took earlier, so that they are not measured again"},
      {.name = kSaveCache,
       .kind = Kind::updated_file,
       .help = "save what tactics took; a file that is there is added to"},
      {.name = kLoadTactics,
       .alias = "load-tactic-replay",
       .kind = Kind::input_file,
       .help = "use the tactics of this file for the layers that it names"},
      {.name = kSaveTactics,
       .alias = "save-tactic-replay",
       .kind = Kind::output_file,
       .help = "save the tactic of each layer as JSON"},
      {.name = kExclude,
       .is_list = true,
       .help = "tactics, or whole families, that are not used; FILE.json: those of its layers"},
      {.name = kSaveEngine, .kind = Kind::output_file, .help = "save the plan that is run"},
  };
}

EngineSettings read_engine_settings(const exec::Settings& settings, const engine::Device& device, bool measures,
                                    Diagnostics& findings) {
  EngineSettings read;
  read.is_strict = settings.has(kStrict);
  read.precision.bfloat16 = settings.has(kBfloat16);
  tell_unused(settings, findings);
  read.save_engine = settings.text(kSaveEngine);
  read.save_timing_cache = settings.text(kSaveCache);
  read.save_tactics = settings.text(kSaveTactics);
  read.profiles = read_profiles(settings);
  read.profile = read_number(settings, kProfile);
  read_tactics(settings, device, read.tactics);
  const bool has_cache = settings.has(kLoadCache) || settings.has(kSaveCache);
  read.tactics.measures = measures || settings.has(kMeasure) || has_cache;
  if (!read.tactics.measures) return read;
  read.tactics.cache = load_caches(settings.list(kLoadCache), device, findings);
  // What it cannot be added to is said before anything is measured.
  if (is_there(read.save_timing_cache)) load_cache(read.save_timing_cache);
  return read;
}

void save_timing_cache(const std::string& path, engine::TimingCache& cache) {
  if (is_there(path)) cache.merge(load_cache(path));
  OutputFile file(path);
  file.write(cache.text());
  file.commit();
}

void check_settings_of_plan(const exec::Settings& settings, const engine::Manifest& manifest) {
  for (const std::string_view name : {kLeast, kBest, kMost, kStrict, kBfloat16, kLoadTactics, kExclude}) {
    const bool is_so = (name == kStrict && manifest.is_strict) || (name == kBfloat16 && manifest.bfloat16);
    if (!settings.has(name) || is_so) continue;
    throw Error(ErrorCode::usage, "the plan was built without it: it has to be built again").about(field_of(name));
  }
}

}  // namespace assay::backends
