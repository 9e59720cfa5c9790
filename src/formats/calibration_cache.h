#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace assay::formats {

// TensorRT's table of scales for int8: a line `TRT-<version>-<algorithm>`, then `<name>: <float32 as hex>` for each
// value.
struct CalibrationCache {
  std::string algorithm;                             // `EntropyCalibration2`, `MinMaxCalibration`, ...
  std::map<std::string, float, std::less<>> scales;  // of one step; the greatest magnitude is 127 steps
};

// Error (parse) for any other text, and for scales that are not finite or not above 0.
CalibrationCache parse_calibration_cache(std::string_view text);
// Names that have line ends or are empty are left out: the form has no way to write them.
std::string calibration_cache_text(const CalibrationCache& cache);

CalibrationCache read_calibration_cache(const std::filesystem::path& path);
void write_calibration_cache(const std::filesystem::path& path, const CalibrationCache& cache);

}  // namespace assay::formats
