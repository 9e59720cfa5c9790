#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/parts/part.h"
#include "engine/parts/part_run.h"
#include "ops/interpreter.h"

namespace assay::engine {

struct ContextPlace;

// A body as a part, whose inputs are those of the body and what it uses from outside.
struct BodyPart {
  BodyPart(ir::Model model, std::vector<ir::ValueId> outer_values, Devices devices, ProgramOptions options)
      : part(std::move(model), std::move(devices), std::move(options)), outer(std::move(outer_values)) {}
  Part part;
  std::vector<ir::ValueId> outer;
};

using BodyParts = std::map<ir::GraphId, std::unique_ptr<const BodyPart>>;

struct BodyTarget {
  const Devices& devices;
  ProgramOptions options;  // of parts
  BodyParts& bodies;
};

// Adds those bodies of a node that hold work.
void add_bodies(const ir::Model& model, const ops::Inference& inference, ir::NodeId node, const BodyTarget& target);

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
