#include "backends/engine/engine_settings.h"

#include "backends/engine/builder_settings.h"
#include "backends/engine/cards.h"
#include "backends/engine/ignored_settings.h"
#include "backends/engine/setting_names.h"
#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"

namespace assay::backends {
namespace {

using namespace setting;
using Kind = exec::Setting::Kind;

std::vector<exec::Setting> profile_settings() {
  return {
      {.name = kLeastShapes,
       .kind = Kind::shapes,
       .help = "the least shape of each input that a plan must take; default: 1 where the model leaves a dim open; "
               "given again, it is about the next profile"},
      {.name = kBestShapes,
       .kind = Kind::shapes,
       .help = "the shapes that a plan is tuned for; default: the least ones"},
      {.name = kMostShapes, .kind = Kind::shapes, .help = "the greatest shapes; default: those it is tuned for"},
      {.name = kProfile,
       .alias = "useProfile",
       .help = "the number of the profile whose shapes runs have; default: the first that takes their inputs"},
  };
}

std::vector<exec::Setting> device_settings() {
  return {
      {.name = kDevice,
       .help = "where layers run: cpu, cuda (the first card) or cuda:N; default: $ASSAY_DEVICE, or else cpu; several, "
               "joined by commas, are sides that are compared. Layers "
               "without a kernel for a card run on the processor"},
  };
}

std::vector<exec::Setting> precision_settings() {
  return {
      {.name = kStrict,
       .kind = Kind::flag,
       .help = "nothing but the order of sums may change the bits of a plain float32 evaluation"},
      {.name = kBfloat16, .kind = Kind::flag, .help = "permit bfloat16 for values and weights; sums stay float32"},
      {.name = kFloat16,
       .kind = Kind::flag,
       .help =
           "permit float16: computed in float32, which is faster; with `strict`, as float16 declares, rounded after "
           "each operator"},
      {.name = kTf32,
       .kind = Kind::flag,
       .help = "permit TF32 where a device computes it; the processor does not, and says so"},
      {.name = kFloat8, .kind = Kind::flag, .help = "permit float8: this engine has no use for it, and says so"},
      {.name = kInt8,
       .kind = Kind::flag,
       .help = "compute in 8-bit integers: `run`, `bench` and `convert` calibrate models that have no quantisers"},
      {.name = kBest, .kind = Kind::flag, .help = "permit every type that makes the engine faster: bfloat16"},
      {.name = kStronglyTyped,
       .alias = "stronglyTyped",
       .kind = Kind::flag,
       .help = "values have the types of the model; nothing may be permitted besides"},
      {.name = kLayerTypes,
       .is_list = true,
       .help =
           "LAYER:TYPE: layers that stay float32, or are bfloat16 without a permission, or float16 with `strict` or "
           "`obey`; names are those of nodes or of their results, and may be wildcards"},
      {.name = kOutputTypes,
       .alias = "layerOutputTypes",
       .is_list = true,
       .help = "the same: a layer computes in what it stores"},
      {.name = kConstraints,
       .is_list = true,
       .help = "`obey`: an error where a layer cannot have its precision; `prefer`, the default: it has another; "
               "`none`: precisions of layers are not used"},
  };
}

std::vector<exec::Setting> tactic_settings() {
  return {
      {.name = kMeasure, .kind = Kind::flag, .help = "measure the tactics of each layer and keep the fastest"},
      {.name = kLevel,
       .alias = "builderOptimizationLevel",
       .help = "how long tactics are measured, from 0, not at all, to 5; default: 3"},
      {.name = kMostTactics, .alias = "maxTactics", .help = "most tactics that are measured for a layer"},
      {.name = kPools,
       .alias = "memory-pool-limit",
       .is_list = true,
       .help = "workspace:SIZE: the most scratch memory of a kernel; those that want more are not used"},
      {.name = kSources,
       .is_list = true,
       .help = "families of kernels that are used, as `conv.onednn`; what none of them computes runs on the reference"},
      {.name = kLoadCache,
       .kind = Kind::input_files,
       .help = "files with what tactics took earlier, so that they are not measured again"},
      {.name = kSaveCache,
       .kind = Kind::updated_file,
       .help = "save what tactics took; a file that is there is added to"},
      {.name = kCacheOnly,
       .alias = "errorOnTimingCacheMiss",
       .kind = Kind::flag,
       .help = "fail where a tactic would have to be measured"},
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
  };
}

std::vector<exec::Setting> plan_settings() {
  return {
      {.name = kSaveEngine, .alias = "saveEngine", .kind = Kind::output_file, .help = "save the plan that is run"},
      {.name = kStrip,
       .alias = "stripWeights",
       .kind = Kind::flag,
       .help = "leave the weights out of the plan: it takes those of its model, or of another one, when it is opened"},
      {.name = kRefittable,
       .kind = Kind::flag,
       .help = "keep the weights of the model in the plan beside their packed forms, so that some of them can be "
               "replaced (assay.tensorrt.Refitter)"},
      {.name = kMarkDebug,
       .is_list = true,
       .help = "values that no layer takes in, so that runs can give them; they do not become outputs"},
      {.name = kRefit,
       .alias = "refitFromOnnx",
       .kind = Kind::input_file,
       .help = "the model whose weights a plan gets; its tactics stay"},
      {.name = kTrustPlan,
       .kind = Kind::flag,
       .help = "run the compiled kernels of a plan that another user built; without it they are compiled anew"},
  };
}

}  // namespace

std::vector<exec::Setting> declared_engine_settings() {
  std::vector<exec::Setting> all;
  for (std::vector<exec::Setting>& group : std::vector{device_settings(), profile_settings(), precision_settings(),
                                                       tactic_settings(), plan_settings(), ignored_settings()}) {
    for (exec::Setting& setting : group) all.push_back(std::move(setting));
  }
  return all;
}

std::optional<tensor::DType> least_engine_type(const exec::Settings& settings) {
  if (settings.has(kBfloat16) || settings.has(kBest)) return tensor::DType::bfloat16;
  if (settings.has(kFloat16) && (settings.has(kStrict) || asks_for_card(settings))) return tensor::DType::float16;
  // TF32 has the bits of float16 behind the point.
  if (settings.has(kTf32) && !settings.has(kStrict) && asks_for_card(settings)) return tensor::DType::float16;
  return std::nullopt;
}

std::vector<exec::SettingChange> stricter_engine_settings(const exec::Settings& settings) {
  std::vector<exec::SettingChange> changes;
  for (const std::string_view permission : {kBfloat16, kFloat16, kInt8, kTf32}) {
    if (settings.has(permission)) changes.push_back({std::string(permission), std::nullopt});
  }
  if (!settings.has(kStrict)) changes.push_back({std::string(kStrict), ""});
  return changes;
}

EngineSettings read_engine_settings(const exec::Settings& settings, const engine::Device& device, bool measures,
                                    Diagnostics& findings) {
  tell_ignored_settings(settings, findings);
  EngineSettings read;
  read.config = read_builder_config(settings, device, measures, findings);
  read.profile = read_number(settings, kProfile);
  read.save_engine = settings.text(kSaveEngine);
  read.strips_plan = settings.has(kStrip);
  read.keeps_source = settings.has(kRefittable);
  if (settings.has(kMarkDebug)) read.debug_values = settings.list(kMarkDebug);
  read.save_timing_cache = settings.text(kSaveCache);
  read.save_tactics = settings.text(kSaveTactics);
  // A cache that cannot be added to is refused before anything is measured.
  if (is_there(read.save_timing_cache)) load_cache(read.save_timing_cache);
  return read;
}

void save_timing_cache(const std::string& path, engine::TimingCache& cache) {
  if (is_there(path)) cache.merge(load_cache(path));
  OutputFile file(path);
  file.write(cache.text());
  file.commit();
}

void tell_unused_types(const exec::Settings& settings, const engine::Precision& precision, Diagnostics& findings) {
  if (settings.has(kBfloat16) && !precision.rules.has(tensor::DType::bfloat16)) {
    findings.warn("engine_precision", "",
                  "bfloat16 is permitted and hardly used: this processor has no instructions for it, so that only "
                  "weights of products of few rows are stored in it");
  }
  const auto tell = [&](std::string_view name, std::string_view type, std::string_view reason) {
    if (!settings.has(name)) return;
    findings.warn("engine_precision", "", fmt::format("{} is permitted and not used: {}", type, reason));
  };
  if (!precision.float16) {
    tell(kFloat16, "float16", precision.bfloat16 ? "bfloat16 takes its place" : kFloat16Hint);
  }
  if (!precision.rules.computes_tf32) tell(kTf32, "TF32", "this engine computes float32 in float32");
  tell(kFloat8, "float8", "only quantisers of the model make it");
}

// Refuses settings that differ from those of the plan; the plan's own may be given again.
void check_settings_of_plan(const exec::Settings& settings, const engine::Manifest& manifest) {
  const auto check = [&](std::string_view name, bool is_so) {
    if (!settings.has(name) || is_so) return;
    throw Error(ErrorCode::usage, "the plan was built without it: it has to be built again").about(field_of(name));
  };
  check(kStrict, manifest.is_strict);
  check(kBfloat16, manifest.precision.bfloat16);
  check(kBest, manifest.precision.bfloat16);
  check(kFloat16, manifest.precision.float16 || !settings.has(kStrict));
  for (const std::string_view name : {kLayerTypes, kOutputTypes, kConstraints, kPools, kSources}) {
    if (!settings.has(name)) continue;
    throw Error(ErrorCode::usage, "this was decided when the plan was built: it has to be built again")
        .about(field_of(name));
  }
}

}  // namespace assay::backends
