#include "tasks/sweep.h"

#include <cerrno>

#include <fmt/format.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "exec/backend.h"
#include "sweep/folder.h"
#include "sweep/metrics/metric.h"
#include "sweep/summary.h"
#include "tasks/sweep/driver.h"
#include "tasks/sweep/plan.h"
#include "tasks/sweep/variants.h"

namespace assay::tasks {
namespace {

std::unique_ptr<Workers> make_workers(const SweepRequest& request) {
  if (request.engine == "local") return local_workers(request);
  return ray_workers(request);
}

std::set<std::string> finished_keys(const std::filesystem::path& folder) {
  std::set<std::string> keys;
  for (const auto& [key, unit] : sweep::read_journal(folder).units) {
    if (unit.status != results::UnitStatus::cancelled) keys.insert(key);
  }
  return keys;
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorCode::io, "the folder `{}` cannot be made: {}", printable(folder.string()), error.message());
}

// An error of a disk that is full says that the sweep can go on.
bool is_of_full_disk(const Error& error) {
  const std::string line = error.line();
  const auto says = [&](int number) { return line.find(errno_text(number)) != std::string::npos; };
  return error.code() == ErrorCode::io && (says(ENOSPC) || says(EDQUOT) || says(EFBIG));
}

results::SweepPlan plan_in_folder(const SweepRequest& request, Observer& observer) {
  try {
    results::SweepPlan plan = make_plan(request, observer);
    sweep::save_plan(request.folder, plan);
    return plan;
  } catch (const Error& error) {
    if (!is_of_full_disk(error)) throw;
    throw Error(ErrorCode::limit, error.line() + "; the same command goes on from there");
  }
}

}  // namespace

void check_sweep(const SweepRequest& request) {
  if (request.models.empty()) fail(ErrorCode::usage, "name the models");
  if (request.sides.empty()) fail(ErrorCode::usage, "name what runs the models");
  for (const std::string& side : request.sides) exec::make_backend(side);
  for (const std::string& variant : request.variants) check_variant(variant);
  for (const std::string& metric : request.metrics) sweep::make_metric(metric);
  const auto is_repeated = [](const std::vector<std::string>& words) {
    return std::set<std::string>(words.begin(), words.end()).size() != words.size();
  };
  if (is_repeated(request.sides)) fail(ErrorCode::usage, "a side is named twice");
  if (is_repeated(request.variants)) fail(ErrorCode::usage, "a variant is named twice");
  if (request.engine != "local" && request.engine != "ray" && !request.engine.starts_with("ray:"))
    fail(ErrorCode::usage, "a sweep runs on `local`, `ray` or `ray:ADDRESS`, not on `{}`", printable(request.engine));
}

results::SweepReport sweep(const SweepRequest& request, Observer& observer) {
  check_sweep(request);
  const Stopwatch total;
  make_folder(request.folder);
  const sweep::FolderLock lock(request.folder, request.part);
  std::set<std::string> done = finished_keys(request.folder);
  const results::SweepPlan plan = plan_in_folder(request, observer);
  const double planned = total.seconds();
  const std::unique_ptr<Workers> workers = make_workers(request);
  Driver(request, plan, *workers, std::move(done), observer).run();
  results::SweepReport report = sweep::summarize(plan, sweep::read_journal(request.folder), request.folder);
  report.timings = {{"plan_seconds", planned}, {"total_seconds", total.seconds()}};
  return report;
}

}  // namespace assay::tasks
