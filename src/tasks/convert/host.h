#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/scratch_file.h"
#include "convert/conversion/conversion.h"
#include "tasks/convert/job.h"

namespace assay::tasks {

// Measures with the inputs that the job's request names; progress goes to the observer.
class JobHost final : public convert::ConversionHost, private convert::MeasuringHost {
 public:
  // `backend` measures; empty: ONNX Runtime if available, otherwise the reference.
  JobHost(ConversionJob& job, std::string backend);

  convert::Measurement* measurement() override { return measurement_.get(); }
  convert::Measurement& measure(const ir::Model& model) override;
  convert::MeasuringHost& measuring_host() override { return *this; }
  // Beside the model that is written, while that has room.
  tensor::Tensor stored(tensor::Tensor made) override;
  void info(const std::string& line) override { job_.observer.info(line); }

 private:
  std::unique_ptr<convert::MeasuringWork> start(std::string what, uint64_t steps) override;
  void verbose(const std::string& line) override { job_.observer.verbose(line); }
  void warning(const std::string& line, const std::string& remedy) override {
    job_.observer.on_finding({Severity::warning, "error", "", line, remedy});
  }

  ConversionJob& job_;
  std::string backend_;
  std::optional<ScratchFile> scratch_;
  InputData data_;
  std::unique_ptr<convert::Measurement> measurement_;
};

}  // namespace assay::tasks
