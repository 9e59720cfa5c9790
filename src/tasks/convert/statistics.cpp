#include "tasks/convert/statistics.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/read_text.h"
#include "base/text.h"
#include "formats/json/field_reader.h"
#include "formats/json/field_writer.h"
#include "results/fields/edit.h"
#include "tasks/model_digest.h"

namespace assay::tasks {
namespace {

constexpr std::string_view kSchema = "assay/calibration-statistics/1";

std::string digest_of_source(const std::string& model) { return is_file(model) ? model_digest(model) : std::string(); }

results::ValueStatistics described(const std::string& name, const calibrate::Distribution& seen) {
  results::ValueStatistics value{.name = name, .low = seen.range.low, .high = seen.range.high};
  value.width = seen.histogram.width();
  value.counts = seen.histogram.counts();
  value.counts.resize(seen.histogram.used_bins());
  if (seen.histogram.counts().empty()) value.counts.push_back(seen.histogram.zeros());
  return value;
}

// Ranges hold 0, as calibration makes them.
calibrate::Distribution distribution_of(const results::ValueStatistics& value) {
  if (!(value.low <= 0 && value.high >= 0 && value.high - value.low < HUGE_VAL))
    fail(ErrorCode::parse, "value `{}`: a range from {} to {}", printable(value.name), value.low, value.high);
  return {{value.low, value.high}, calibrate::Histogram(value.width, value.counts)};
}

calibrate::Statistics read_one(const std::string& path, const std::string& digest) {
  const auto read = formats::read_report<results::CalibrationStatistics>(read_text(path));
  if (read.schema != kSchema)
    fail(ErrorCode::parse, "expected statistics of a calibration ({}), seen the schema `{}`", kSchema,
         printable(read.schema));
  if (!digest.empty() && !read.digest.empty() && read.digest != digest)
    fail(ErrorCode::usage, "its statistics are of another model, `{}`", printable(read.model));
  calibrate::Statistics statistics;
  for (const results::ValueStatistics& value : read.values) statistics[value.name] = distribution_of(value);
  return statistics;
}

void add(calibrate::Statistics& all, const calibrate::Statistics& part) {
  const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (!std::ranges::equal(all, part, same_name))
    fail(ErrorCode::usage, "its values are not those of the files before: they were measured with other options");
  for (auto& [name, seen] : all) seen.add(part.at(name));
}

}  // namespace

void write_statistics(const calibrate::Statistics& statistics, const std::string& model, const std::string& path) {
  results::CalibrationStatistics file{
      .schema = std::string(kSchema), .model = model, .digest = digest_of_source(model), .values = {}};
  for (const auto& [name, seen] : statistics) file.values.push_back(described(name, seen));
  OutputFile output(path);
  output.write(formats::json_text(file));
  output.commit();
}

calibrate::Statistics read_statistics(const std::vector<std::string>& paths, const std::string& model) {
  const std::string digest = digest_of_source(model);
  calibrate::Statistics all;
  for (const std::string& path : paths) {
    with_frame([&] { return fmt::format("reading `{}`", printable(path)); },
               [&] {
                 calibrate::Statistics part = read_one(path, digest);
                 all.empty() ? void(all = std::move(part)) : add(all, part);
                 return 0;
               });
  }
  return all;
}

}  // namespace assay::tasks
