#include "tasks/convert/calibration.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "formats/calibration_cache.h"
#include "tasks/convert/choose_ranges.h"

namespace assay::tasks {
namespace {

using quantize::Calibration;

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

std::string word_of(Calibration calibration) {
  for (size_t i = 1; i < kCalibrators.size(); ++i) {
    if (kCalibrators[i].calibration == calibration) return std::string(kCalibrators[i].word);
  }
  return "";
}

passes::ValueRanges cached_ranges(const formats::CalibrationCache& cache, const std::vector<std::string>& names) {
  passes::ValueRanges ranges;
  for (const std::string& name : names) {
    const auto found = cache.scales.find(name);
    if (found == cache.scales.end()) continue;
    const double largest = double{found->second} * kSteps;
    ranges[name] = {-largest, largest};
  }
  return ranges;
}

float cached_scale(const passes::ValueRange& range) {
  const float scale = static_cast<float>(std::max(-range.low, range.high) / double{kSteps});
  return std::max(scale, std::numeric_limits<float>::min());
}

// Ranges, from the cache and from measurements.
class RangeFinder {
 public:
  RangeFinder(const Int8Request& request, const passes::QdqOptions& options, ConversionJob& job, LayerErrors& measuring)
      : request_(request), options_(options), job_(job), measuring_(measuring), path_(request.cache) {
    if (!path_.empty()) open_cache();
  }

  passes::ValueRanges find(const std::vector<std::string>& names) {
    if (names.empty()) {
      tell_unused();
      return {};
    }
    if (has_cache_) job_.report.calibration = cache_.algorithm;
    passes::ValueRanges ranges = cached_ranges(cache_, names);
    std::vector<std::string> missing = names;
    std::erase_if(missing, [&](const std::string& name) { return ranges.contains(name); });
    if (missing.empty()) return ranges;
    if (!has_cache_ || !job_.request.inputs.is_generated()) {
      measure(missing, ranges);
      return ranges;
    }
    job_.loaded.findings.warn(
        "calibration", "",
        fmt::format("the calibration cache lacks {} of {} value(s), `{}` among them: their layers stay float",
                    missing.size(), names.size(), printable(missing.front())));
    return ranges;
  }

 private:
  void open_cache() {
    if (has_content(path_)) return load_cache();
    const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
    if (is_folder(folder)) return;
    throw Error(ErrorCode::io, fmt::format("`{}` can be neither read nor written: `{}` is no folder",
                                           printable(path_.string()), printable(folder.string())))
        .about("calibration_cache");
  }

  void load_cache() {
    job_.observer.info("Loading calibration cache: " + printable(path_.string()));
    cache_ = formats::read_calibration_cache(path_);
    has_cache_ = true;
  }

  void tell_unused() {
    if (path_.empty()) return;
    job_.observer.warning(fmt::format("the calibration cache `{}` is not {}: no layer needs ranges",
                                      printable(path_.string()), has_cache_ ? "used" : "written"));
  }

  void measure(const std::vector<std::string>& names, passes::ValueRanges& ranges) {
    if (job_.request.inputs.is_generated()) {
      job_.loaded.findings.warn("calibration", "",
                                "ranges are measured on generated inputs: load real ones for accuracy on them",
                                "load_inputs");
    }
    job_.observer.info(fmt::format("Calibrating {} value(s) by {}", names.size(), request_.calibration));
    RangeCandidate chosen = calibrate(names, ranges);
    ranges = std::move(chosen.ranges);
    job_.report.calibration = chosen.name;
    if (path_.empty()) return;
    cache_.algorithm = request_.cache_algorithm;
    for (const auto& [name, range] : ranges) cache_.scales[name] = cached_scale(range);
    job_.observer.info("Saving calibration cache to: " + printable(path_.string()));
    formats::write_calibration_cache(path_, cache_);
  }

  // Those that are known already hold in any case.
  RangeCandidate calibrate(const std::vector<std::string>& names, const passes::ValueRanges& known) {
    quantize::CalibrationOptions options;
    options.calibrations = request_.calibrations;
    options.quantile = request_.quantile;
    std::vector<passes::ValueRanges> found = measuring_.measurement().calibrate(names, options);
    std::vector<RangeCandidate> candidates;
    for (size_t i = 0; i < found.size(); ++i) {
      found[i].insert(known.begin(), known.end());
      candidates.push_back({word_of(options.calibrations[i]), std::move(found[i])});
    }
    RangeCandidate chosen = choose_ranges(measuring_.measurement(), options_, std::move(candidates), job_.observer);
    if (found.size() > 1) job_.observer.info("Ranges are chosen by " + chosen.name);
    return chosen;
  }

  const Int8Request& request_;
  const passes::QdqOptions& options_;
  ConversionJob& job_;
  LayerErrors& measuring_;
  std::filesystem::path path_;
  formats::CalibrationCache cache_;
  bool has_cache_ = false;
};

}  // namespace

std::span<const Calibrator> calibrators() { return kCalibrators; }

void set_calibrator(const Calibrator& calibrator, Int8Request& request) {
  request.calibration = calibrator.word;
  request.cache_algorithm = calibrator.cache;
  request.calibrations = {calibrator.calibration};
  if (&calibrator != kCalibrators.data()) return;
  request.calibrations = {Calibration::minmax, Calibration::mse, Calibration::percentile, Calibration::entropy};
}

passes::ValueRanges find_ranges(const Int8Request& request, const passes::QdqOptions& options, ConversionJob& job,
                                LayerErrors& measuring, const std::vector<std::string>& names) {
  return RangeFinder(request, options, job, measuring).find(names);
}

}  // namespace assay::tasks
