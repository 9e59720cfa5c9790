#include "cli/convert/calibration.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "cli/convert/choose_ranges.h"
#include "cli/options/groups/backends.h"
#include "cli/options/values.h"
#include "formats/calibration_cache.h"

namespace assay::cli {
namespace {

using quantize::Calibration;

constexpr float kSteps = 127;  // of a cache's scales

struct Calibrator {
  std::string_view word;
  std::string_view peer;   // class of TensorRT
  std::string_view cache;  // as caches call it that it reads
  Calibration calibration;
};

// The first word stands for a choice among those behind it.
constexpr std::array<Calibrator, 6> kCalibrators = {{
    {"auto", "", "EntropyCalibration2", Calibration::minmax},
    {"entropy", "IInt8EntropyCalibrator2", "EntropyCalibration2", Calibration::entropy},
    {"minmax", "IInt8MinMaxCalibrator", "MinMaxCalibration", Calibration::minmax},
    {"percentile", "IInt8LegacyCalibrator", "LegacyCalibration", Calibration::percentile},
    {"mse", "", "EntropyCalibration2", Calibration::mse},
    {"entropy", "IInt8EntropyCalibrator", "EntropyCalibration", Calibration::entropy},
}};

const Calibrator& asked_calibrator(const Arguments& arguments) {
  if (!arguments.has("--calib-base-cls")) {
    return *std::ranges::find(kCalibrators, arguments.value("--calibration"), &Calibrator::word);
  }
  if (arguments.has("--calibration")) {
    fail(ErrorCode::usage, "--calibration and --calib-base-cls both say how to calibrate: give one of them");
  }
  const std::string name = arguments.value("--calib-base-cls");
  const auto* found = name.empty() ? kCalibrators.end() : std::ranges::find(kCalibrators, name, &Calibrator::peer);
  if (found != kCalibrators.end()) return *found;
  std::vector<std::string> known;
  for (const Calibrator& calibrator : kCalibrators) {
    if (!calibrator.peer.empty()) known.emplace_back(calibrator.peer);
  }
  fail(ErrorCode::usage, "--calib-base-cls: expected one of {}, seen `{}`", join(known, ", "), printable(name));
}

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

// Ranges, with what is there already and what has to be measured.
class RangeFinder {
 public:
  RangeFinder(ConversionJob& job, LayerErrors& measuring, const passes::QdqOptions& options)
      : job_(job),
        arguments_(job.arguments),
        measuring_(measuring),
        options_(options),
        path_(arguments_.value("--calibration-cache")) {}

  passes::ValueRanges find(const std::vector<std::string>& names) {
    const bool has_cache = !path_.empty() && has_content(path_);
    if (has_cache) load_cache();
    passes::ValueRanges ranges = cached_ranges(cache_, names);
    std::vector<std::string> missing = names;
    std::erase_if(missing, [&](const std::string& name) { return ranges.contains(name); });
    if (missing.empty()) return ranges;
    if (!has_cache || has_input_data(arguments_)) {
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
  void load_cache() {
    job_.environment.log.info("Loading calibration cache: " + printable(path_.string()));
    cache_ = formats::read_calibration_cache(path_);
    job_.report.calibration = cache_.algorithm;
  }

  void measure(const std::vector<std::string>& names, passes::ValueRanges& ranges) {
    if (!has_input_data(arguments_)) {
      job_.loaded.findings.warn(
          "calibration", "",
          "ranges are taken from made-up inputs: accuracy on real ones needs --data-loader-script "
          "or --load-inputs");
    }
    const Calibrator& calibrator = asked_calibrator(arguments_);
    job_.environment.log.info(fmt::format("Calibrating {} value(s) by {}", names.size(), calibrator.word));
    RangeCandidate chosen = calibrate(names, ranges);
    ranges = std::move(chosen.ranges);
    job_.report.calibration = chosen.name;
    if (path_.empty()) return;
    cache_.algorithm = calibrator.cache;
    for (const auto& [name, range] : ranges) cache_.scales[name] = cached_scale(range);
    job_.environment.log.info("Saving calibration cache to: " + printable(path_.string()));
    formats::write_calibration_cache(path_, cache_);
  }

  // Those that are known already hold in any case.
  RangeCandidate calibrate(const std::vector<std::string>& names, const passes::ValueRanges& known) {
    const quantize::CalibrationOptions options = calibration_options(arguments_);
    std::vector<passes::ValueRanges> found = measuring_.measurement().calibrate(names, options);
    std::vector<RangeCandidate> candidates;
    for (size_t i = 0; i < found.size(); ++i) {
      found[i].insert(known.begin(), known.end());
      candidates.push_back({word_of(options.calibrations[i]), std::move(found[i])});
    }
    RangeCandidate chosen =
        choose_ranges(measuring_.measurement(), options_, std::move(candidates), job_.environment.log);
    if (found.size() > 1) job_.environment.log.info("Ranges are taken by " + chosen.name);
    return chosen;
  }

  ConversionJob& job_;
  const Arguments& arguments_;
  LayerErrors& measuring_;
  const passes::QdqOptions& options_;
  std::filesystem::path path_;
  formats::CalibrationCache cache_;
};

}  // namespace

OptionGroup calibration_group() {
  return {
      .title = "Calibration",
      .description = "How the ranges of activations are found for int8",
      .rows = {{.names = {"--calibration"},
                .choices = {"auto", "mse", "minmax", "percentile", "entropy"},
                .default_value = "auto",
                .help = "which numbers are kept: by square error, all, a share of them, or by divergence; auto: what "
                        "costs the layers and the model's outputs least, measured by nine further runs"},
               {.names = {"--calib-base-cls", "--calibration-base-class"},
                .metavar = "CLASS",
                .help = "the same as a class of TensorRT: IInt8EntropyCalibrator2, IInt8MinMaxCalibrator, ..."},
               {.names = {"--quantile"},
                .metavar = "SHARE",
                .default_value = "0.9999",
                .help = "with percentile: the share of the magnitudes that is kept"},
               {.names = {"--calibration-cache"},
                .metavar = "FILE",
                .help = "scales in TensorRT's form: read if it is there, and then no inputs are needed; else written",
                .is_file = true},
               {.names = {"--calibrate-with"},
                .metavar = "BACKEND",
                .help = "what runs the model: ref, onnxrt or openvino; default: onnxrt where it is there, else ref"}},
  };
}

quantize::CalibrationOptions calibration_options(const Arguments& arguments) {
  quantize::CalibrationOptions options;
  const Calibrator& asked = asked_calibrator(arguments);
  options.calibrations = {asked.calibration};
  if (&asked == kCalibrators.data()) {
    options.calibrations = {Calibration::minmax, Calibration::mse, Calibration::percentile, Calibration::entropy};
  }
  options.quantile = parse_number("--quantile", arguments.value("--quantile"));
  if (!(options.quantile > 0 && options.quantile <= 1)) {
    fail(ErrorCode::usage, "--quantile: expected a share in (0, 1], seen {}", arguments.value("--quantile"));
  }
  return options;
}

std::string calibration_backend(const Arguments& arguments) {
  if (arguments.has("--calibrate-with")) return arguments.value("--calibrate-with");
  constexpr std::string_view kFast = "onnxrt";
  const bool is_there = exec::make_backend(kFast)->probe(library_search(arguments)).usable;
  return is_there ? std::string(kFast) : "ref";
}

passes::ValueRanges find_ranges(ConversionJob& job, LayerErrors& measuring, const passes::QdqOptions& options,
                                const std::vector<std::string>& names) {
  return RangeFinder(job, measuring, options).find(names);
}

}  // namespace assay::cli
