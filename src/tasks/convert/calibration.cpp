#include "tasks/convert/calibration.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "tasks/convert/statistics.h"

namespace assay::tasks {
namespace {

using calibrate::Calibration;

constexpr float kSteps = 127;  // of a cache's scales

constexpr std::array<Calibrator, 6> kCalibrators = {{
    {"auto", "", "EntropyCalibration2", Calibration::minmax},
    {"entropy", "IInt8EntropyCalibrator2", "EntropyCalibration2", Calibration::entropy},
    {"minmax", "IInt8MinMaxCalibrator", "MinMaxCalibration", Calibration::minmax},
    {"percentile", "IInt8LegacyCalibrator", "LegacyCalibration", Calibration::percentile},
    {"mse", "", "EntropyCalibration2", Calibration::mse},
    {"entropy", "IInt8EntropyCalibrator", "EntropyCalibration", Calibration::entropy},
}};

bool has_content(const std::filesystem::path& path) {
  std::error_code fault;
  const bool exists = std::filesystem::exists(path, fault);
  return exists && std::filesystem::file_size(path, fault) != 0;
}

calibrate::Ranges cached_ranges(const formats::CalibrationCache& cache, const std::vector<std::string>& names) {
  calibrate::Ranges ranges;
  for (const std::string& name : names) {
    const auto found = cache.scales.find(name);
    if (found == cache.scales.end()) continue;
    const double largest = double{found->second} * kSteps;
    ranges[name] = {-largest, largest};
  }
  return ranges;
}

float cached_scale(const calibrate::Range& range) {
  const float scale = static_cast<float>(std::max(-range.low, range.high) / double{kSteps});
  return std::max(scale, std::numeric_limits<float>::min());
}

}  // namespace

std::span<const Calibrator> calibrators() { return kCalibrators; }

void set_calibrator(const Calibrator& calibrator, Int8Request& request) {
  request.calibration = calibrator.word;
  request.cache_algorithm = calibrator.cache;
  request.calibrations = {calibrator.calibration};
  if (&calibrator != kCalibrators.data()) return;
  request.calibrations = {Calibration::minmax, Calibration::mse, Calibration::percentile, Calibration::entropy};
}

JobRanges::JobRanges(const Int8Request& request, ConversionJob& job, JobHost& host)
    : request_(request), job_(job), host_(host), path_(request.cache) {
  if (!path_.empty()) open_cache();
}

convert::RangeCandidate JobRanges::ranges(const ir::Model& model, const std::vector<std::string>& names,
                                          const convert::QdqOptions& options) {
  if (names.empty()) {
    tell_unused();
    return {};
  }
  convert::RangeCandidate cached = {cache_.algorithm, cached_ranges(cache_, names)};
  std::vector<std::string> missing = names;
  std::erase_if(missing, [&](const std::string& name) { return cached.ranges.contains(name); });
  if (missing.empty()) return cached;
  if (!has_cache_ || !request_.statistics.empty() || !job_.request.inputs.is_generated()) {
    return find(model, missing, cached.ranges, options);
  }
  job_.loaded.findings.warn(
      "calibration", "",
      fmt::format("the calibration cache lacks {} of {} value(s), `{}` among them: their layers stay float",
                  missing.size(), names.size(), printable(missing.front())));
  return cached;
}

void JobRanges::open_cache() {
  if (has_content(path_)) return load_cache();
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  if (is_folder(folder)) return;
  throw Error(ErrorCode::io, fmt::format("`{}` can be neither read nor written: `{}` is no folder",
                                         printable(path_.string()), printable(folder.string())))
      .about("calibration_cache");
}

void JobRanges::load_cache() {
  job_.observer.info("Loading calibration cache: " + printable(path_.string()));
  cache_ = formats::read_calibration_cache(path_);
  has_cache_ = true;
}

void JobRanges::tell_unused() {
  if (path_.empty()) return;
  job_.observer.warning(fmt::format("the calibration cache `{}` is {}: no layer needs ranges",
                                    printable(path_.string()), has_cache_ ? "not used" : "empty"));
  if (!has_cache_) save_cache({});
}

calibrate::Statistics JobRanges::statistics_of(const ir::Model& model, const std::vector<std::string>& names) {
  if (request_.statistics.empty()) {
    if (job_.request.inputs.is_generated()) {
      job_.loaded.findings.warn("calibration", "",
                                "ranges are measured on generated inputs: load real ones for accuracy on them",
                                "load_inputs");
    }
    job_.observer.info(fmt::format("Calibrating {} value(s) by {}", names.size(), request_.calibration));
    const bool wants_histograms = request_.calibrations != std::vector{Calibration::minmax};
    return host_.measure(model).statistics(names, wants_histograms);
  }
  job_.observer.info(fmt::format("Loading statistics of {} file(s)", request_.statistics.size()));
  calibrate::Statistics statistics = read_statistics(request_.statistics, job_.request.edit.model.path);
  std::erase_if(statistics, [&](const auto& value) { return std::ranges::find(names, value.first) == names.end(); });
  if (statistics.size() < names.size()) {
    job_.loaded.findings.warn("calibration", "",
                              fmt::format("the statistics lack {} of {} value(s): their layers stay float",
                                          names.size() - statistics.size(), names.size()));
  }
  return statistics;
}

// A choice among several takes inputs to try them on.
std::vector<Calibration> JobRanges::calibrations() const {
  const bool may_try = request_.statistics.empty() || !job_.request.inputs.is_generated();
  if (may_try || request_.calibrations.size() == 1) return request_.calibrations;
  job_.observer.info("Ranges are those of the least square error: a choice among calibrations takes inputs");
  return {Calibration::mse};
}

convert::RangeCandidate JobRanges::find(const ir::Model& model, const std::vector<std::string>& names,
                                        const calibrate::Ranges& known, const convert::QdqOptions& options) {
  const calibrate::Statistics statistics = statistics_of(model, names);
  std::vector<convert::RangeCandidate> candidates;
  for (const Calibration calibration : calibrations()) {
    calibrate::Ranges ranges = calibrate::ranges_of(statistics, calibration, request_.quantile);
    ranges.insert(known.begin(), known.end());
    candidates.push_back({std::string(calibrate::name(calibration)), std::move(ranges)});
  }
  const bool is_choice = candidates.size() > 1;
  convert::RangeCandidate chosen =
      is_choice ? convert::choose_ranges(host_.measure(model), options, std::move(candidates), host_.measuring_host())
                : std::move(candidates.front());
  if (is_choice) job_.observer.info("Ranges are chosen by " + chosen.name);
  // A cache is to give the same model again.
  chosen.may_measure = is_choice && path_.empty();
  if (!path_.empty()) save_cache(chosen.ranges);
  return chosen;
}

void JobRanges::save_cache(const calibrate::Ranges& ranges) {
  cache_.algorithm = request_.cache_algorithm;
  for (const auto& [name, range] : ranges) cache_.scales[name] = cached_scale(range);
  job_.observer.info("Saving calibration cache to: " + printable(path_.string()));
  formats::write_calibration_cache(path_, cache_);
}

}  // namespace assay::tasks
