#include "formats/calibration_cache.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/model_checks.h"

namespace assay::formats {
namespace {

using testing_support::error_of;
using testing_support::TemporaryFolder;

std::string line_of(std::string_view text) {
  const TemporaryFolder folder;
  folder.put("cache", text);
  const std::optional<Error> error = error_of([&] { read_calibration_cache(folder.path() / "cache"); });
  return error ? error->line() : "no error";
}

TEST(CalibrationCache, ReadsWhatTensorRtWrites) {
  const TemporaryFolder folder;
  folder.put("cache", "TRT-8502-EntropyCalibration2\r\nx: 3c010204\n(Unnamed Layer* 0) [A: B]: 3f800000\n\n");
  const CalibrationCache cache = read_calibration_cache(folder.path() / "cache");
  EXPECT_EQ(cache.algorithm, "EntropyCalibration2");
  EXPECT_FLOAT_EQ(cache.scales.at("x"), 1 / 127.0F);
  EXPECT_EQ(cache.scales.at("(Unnamed Layer* 0) [A: B]"), 1);
}

TEST(CalibrationCache, WritesTheSame) {
  const TemporaryFolder folder;
  write_calibration_cache(folder.path() / "cache", {"MinMaxCalibration", {{"b", 1.0F}, {"a", 0.5F}, {"c\nd", 1.0F}}});
  EXPECT_EQ(folder.get("cache"), "TRT-100000-MinMaxCalibration\na: 3f000000\nb: 3f800000\n");
  EXPECT_EQ(read_calibration_cache(folder.path() / "cache").scales.size(), 2U);
}

TEST(CalibrationCache, RefusesOtherTexts) {
  EXPECT_NE(line_of("").find("line 1: expected `TRT-"), std::string::npos);
  EXPECT_NE(line_of("TRT-8502\n").find("line 1"), std::string::npos);
  const std::string head = "TRT-8502-EntropyCalibration2\n";
  for (const std::string_view bad : {"x", "x: ", "x: 3f80000g", "x: 3f8000000", "x: 00000000", "x: 7f800000",
                                     "x: 7fc00000", "x: bf800000", ": 3f800000", "x: -1"}) {
    EXPECT_NE(line_of(head + std::string(bad)).find("line 2: expected"), std::string::npos) << bad;
  }
}

}  // namespace
}  // namespace assay::formats
