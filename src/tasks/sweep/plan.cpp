#include "tasks/sweep/plan.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/trim.h"
#include "exec/backend.h"
#include "ir/queries.h"
#include "remote/isolated_backend.h"
#include "sweep/folder.h"
#include "sweep/keys.h"
#include "sweep/versions.h"
#include "tasks/load.h"
#include "tasks/model_digest.h"
#include "tasks/sweep/samples.h"
#include "tasks/sweep/variants.h"

namespace assay::tasks {
namespace {

namespace fs = std::filesystem;

// A model that cannot be read has a digest of its own as long as it stays so.
std::string digest_of_any(const std::string& path) {
  try {
    return model_digest(path);
  } catch (const Error& error) {
    return sweep::digest_of(fmt::format("{}: {}", path, error.line()));
  }
}

std::string version_of(const std::string& side, const exec::LibrarySearch& search) {
  const bool is_elsewhere = side.find('@') != std::string::npos;
  const exec::BackendPtr backend =
      is_elsewhere ? remote::isolated_backend({.backend = side}) : remote::safe_backend(side, search);
  const exec::Probe probe = backend->probe(search);
  if (probe.usable) return probe.version;
  throw Error(ErrorCode::backend, fmt::format("backend `{}` cannot be used: {}", printable(side), probe.version))
      .remedied_by(probe.tried.empty() ? "" : "library_places");
}

// The processor's name and how many there are.
std::string machine_class() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const std::string_view name = trimmed(std::string_view(line).substr(line.find(':') + 1));
    return fmt::format("{} x {}", name, std::thread::hardware_concurrency());
  }
  return fmt::format("unknown x {}", std::thread::hardware_concurrency());
}

void add_columns(const SweepRequest& request, results::SweepPlan& plan) {
  std::vector<std::string> versions;
  for (const std::string& side : request.sides) versions.push_back(version_of(side, request.session.search));
  std::vector<std::string> variants = {std::string(sweep::kOriginal)};
  variants.insert(variants.end(), request.variants.begin(), request.variants.end());
  for (const std::string& variant : variants) {
    for (size_t i = 0; i < request.sides.size(); ++i) plan.columns.push_back({variant, request.sides[i], versions[i]});
  }
}

void add_models(const SweepRequest& request, results::SweepPlan& plan) {
  plan.models.resize(request.models.size());
  parallel_for(plan.models.size(), 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) plan.models[i] = {request.models[i], digest_of_any(request.models[i])};
  });
}

// Samples that calibrate a form of a model decide the results of all its units.
std::string calibration_note(const results::SweepPlan& plan) {
  std::string note = "\ncalibration";
  for (const results::PlannedShard& shard : plan.shards) {
    if (shard.begin < kCalibrationSamples) note += " " + shard.digest;
  }
  return note;
}

std::optional<results::SweepPlan> older_plan(const fs::path& folder) {
  if (!is_file(folder / "plan.json")) return std::nullopt;
  return sweep::load_plan(folder);
}

}  // namespace

results::SweepPlan make_plan(const SweepRequest& request, Observer& observer) {
  results::SweepPlan plan;
  plan.schema = sweep::kPlanSchema;
  plan.version = ASSAY_VERSION;
  plan.folder = absolute_path(".").lexically_normal().string();
  plan.words = request.words;
  plan.options = request.options;
  plan.share = request.share;
  plan.metrics = request.metrics;
  if (std::ranges::find(request.metrics, "latency") != request.metrics.end()) plan.machine = machine_class();
  const std::optional<results::SweepPlan> older = older_plan(request.folder);
  add_columns(request, plan);
  add_models(request, plan);
  plan_data(request, older ? &*older : nullptr, observer, plan);
  if (std::ranges::any_of(request.variants, is_calibrated)) plan.options += calibration_note(plan);
  return plan;
}

}  // namespace assay::tasks
