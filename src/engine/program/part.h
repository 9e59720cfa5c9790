#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/recent.h"
#include "engine/program/program.h"
#include "tensor/datum.h"

namespace assay::engine {

// Types and shapes of the inputs of a part; what is no tensor has none.
using PartShapes = std::vector<std::pair<tensor::DType, tensor::Shape>>;
PartShapes shapes_of(std::span<const tensor::Datum> inputs);

// A part lowered for some shapes, and its program.
class PlannedPart {
 public:
  PlannedPart(const ir::Model& source, const PartShapes& shapes, const Devices& devices, const ProgramOptions& options);

  const Program& program() const { return *program_; }
  std::span<const ir::ValueId> inputs() const { return inputs_; }
  std::span<const ir::ValueId> outputs() const { return outputs_; }

 private:
  ir::Model model_;
  std::vector<ir::ValueId> inputs_;
  std::vector<ir::ValueId> outputs_;
  std::optional<Program> program_;
};

// Options with which a part of a program is planned: constants are shared, tactics are the first that compute a layer.
ProgramOptions part_options(const ProgramOptions& whole, std::shared_ptr<KeptWeights> packed,
                            std::shared_ptr<UploadedConstants> uploaded);

// Nodes of a lowered model, or a body, that are a model of their own: it is planned when sizes come. May be used from
// several threads.
class Part {
 public:
  Part(ir::Model model, Devices devices, ProgramOptions options);

  const ir::Model& model() const { return model_; }
  // The plan for these shapes, each made once as long as it is among the last that were asked for. Null: the reference
  // is to run them, since there is too little work in them, or for one of many sizes.
  std::shared_ptr<const PlannedPart> plan(const PartShapes& shapes) const;

 private:
  bool is_worth(const PartShapes& shapes) const;
  double work_of(const PartShapes& shapes) const;

  const ir::Model model_;
  const Devices devices_;
  const ProgramOptions options_;
  mutable std::mutex mutex_;
  mutable Recent<PartShapes, std::shared_ptr<const PlannedPart>> plans_;
  mutable size_t planned_ = 0;  // in all
};

}  // namespace assay::engine
