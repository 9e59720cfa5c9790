#include "tasks/convert/calibration.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"

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
  if (!has_cache_ || !job_.request.inputs.is_generated()) {
    return measure(model, {missing, request_.calibrations, request_.quantile, std::move(cached.ranges)}, options);
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

convert::RangeCandidate JobRanges::measure(const ir::Model& model, const convert::RangeRequest& wanted,
                                           const convert::QdqOptions& options) {
  if (job_.request.inputs.is_generated()) {
    job_.loaded.findings.warn("calibration", "",
                              "ranges are measured on generated inputs: load real ones for accuracy on them",
                              "load_inputs");
  }
  job_.observer.info(fmt::format("Calibrating {} value(s) by {}", wanted.names.size(), request_.calibration));
  convert::RangeCandidate chosen =
      convert::measure_ranges(host_.measure(model), options, wanted, host_.measuring_host());
  if (wanted.calibrations.size() > 1) job_.observer.info("Ranges are chosen by " + chosen.name);
  // A cache is to give the same model again.
  chosen.may_measure = wanted.calibrations.size() > 1 && path_.empty();
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
