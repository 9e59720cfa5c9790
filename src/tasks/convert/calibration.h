#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convert/conversion/int8.h"
#include "formats/calibration_cache.h"
#include "tasks/convert/host.h"

namespace assay::tasks {

// Ranges from the request's cache if it exists; the rest from its statistics, or by running the model, after which the
// cache is written. With a
// cache and no user data, values missing from the cache are left out with a message.
class JobRanges final : public convert::RangeSource {
 public:
  // Error (io) for a cache that can be neither read nor written.
  JobRanges(const Int8Request& request, ConversionJob& job, JobHost& host);

  convert::RangeCandidate ranges(const ir::Model& model, const std::vector<std::string>& names,
                                 const convert::QdqOptions& options) override;

 private:
  void open_cache();
  void load_cache();
  void tell_unused();
  calibrate::Statistics statistics_of(const ir::Model& model, const std::vector<std::string>& names);
  std::vector<calibrate::Calibration> calibrations() const;
  convert::RangeCandidate find(const ir::Model& model, const std::vector<std::string>& names,
                               const calibrate::Ranges& known, const convert::QdqOptions& options);
  void save_cache(const calibrate::Ranges& ranges);

  const Int8Request& request_;
  ConversionJob& job_;
  JobHost& host_;
  std::filesystem::path path_;
  formats::CalibrationCache cache_;
  bool has_cache_ = false;
};

}  // namespace assay::tasks
