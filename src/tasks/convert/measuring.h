#pragma once

#include <string>

#include "convert/measure/measurement.h"
#include "tasks/convert/job.h"

namespace assay::tasks {

// Measures on a copy of the job's model, with the inputs that the request names; progress goes to the observer.
class Measuring final : private convert::MeasuringHost {
 public:
  // Errors of the inputs. `backend` measures.
  Measuring(ConversionJob& job, std::string backend);

  convert::Measurement& measurement() { return measurement_; }
  convert::MeasuringHost& host() { return *this; }

 private:
  std::unique_ptr<convert::MeasuringWork> start(std::string what, uint64_t steps) override;
  void verbose(const std::string& line) override { observer_.verbose(line); }
  void warning(const std::string& line) override { observer_.warning(line); }

  Observer& observer_;
  std::string backend_;
  exec::SessionOptions session_;
  ir::Model model_;
  InputData data_;
  convert::Measurement measurement_;
};

}  // namespace assay::tasks
