#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/program/part.h"

namespace assay::engine {

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

// Adds those bodies of a node that hold work. True if there are any.
bool add_bodies(const ir::Model& model, const ops::Inference& inference, ir::NodeId node, const BodyTarget& target);

}  // namespace assay::engine
