#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "exec/runner.h"
#include "exec/tap_plan.h"
#include "ir/model.h"

namespace assay::convert {

// A piece of work that takes time, from its start to its destruction.
class MeasuringWork {
 public:
  virtual ~MeasuringWork() = default;
  // A runner of the model on the backend that measures, for these values; without a name it has that of the backend.
  // Each value that it gives is a step, and so is a run without
  // values.
  virtual exec::RunnerPtr runner(const ir::Model& model, const exec::TapPlan& taps, const std::string& name) = 0;
  // A step that no runner makes. Error (cancelled) if nobody wants the rest.
  virtual void advance() = 0;
};

// Services that measuring needs of its caller: a backend, and someone to tell.
class MeasuringHost {
 public:
  virtual ~MeasuringHost() = default;
  // `steps` 0: not known.
  virtual std::unique_ptr<MeasuringWork> start(std::string what, uint64_t steps) = 0;
  virtual void verbose(const std::string& line) = 0;
  // `remedy`: the setting of a request that lifts it, as Error::remedy().
  virtual void warning(const std::string& line, const std::string& remedy) = 0;
};

}  // namespace assay::convert
