#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "engine/program/bodies.h"
#include "engine/run/part_run.h"
#include "ops/interpreter.h"

namespace assay::engine {

struct ContextPlace;

// Runs the bodies of one execution. For one thread at a time.
class BodyRuns final : public ops::BodyHook {
 public:
  // Both must outlive it.
  BodyRuns(const BodyParts& bodies, const ContextPlace& place) : bodies_(bodies), place_(place) {}
  std::optional<std::vector<tensor::Datum>> run_body(ir::GraphId body, std::span<const tensor::Datum> inputs,
                                                     const Outer& outer) override;
  void rest() { runs_.clear(); }

 private:
  const BodyParts& bodies_;
  const ContextPlace& place_;
  std::map<ir::GraphId, PartRun> runs_;
};

}  // namespace assay::engine
