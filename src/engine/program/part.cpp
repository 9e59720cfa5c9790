#include "engine/program/part.h"

#include <set>

#include "engine/lowering/lower.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "tensor/derived.h"

namespace assay::engine {
namespace {

constexpr size_t kKeptPlans = 16;     // of a part
constexpr size_t kPlannedAnyway = 8;  // sizes of a part, before it counts what planning another one costs

ops::InputTypes input_types(const ir::Model& model, const PartShapes& shapes) {
  ops::InputTypes types;
  const std::vector<ir::ValueId>& inputs = model[model.main_graph()].inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& [dtype, shape] = shapes[i];
    if (tensor::is_known(dtype)) types.emplace(inputs[i], ops::Type::tensor(dtype, ops::dims_of(shape)));
  }
  return types;
}

void fix_types(ir::Model& model, const PartShapes& shapes) {
  const std::vector<ir::ValueId> inputs = model[model.main_graph()].inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& [dtype, shape] = shapes[i];
    if (tensor::is_known(dtype)) fix_type(model, inputs[i], dtype, shape);
  }
}

// Releases constants that lowering has made: they are the plan's own, and nobody reads yet what kernels have packed.
void let_go_of_own(const ir::Model& planned, const ir::Model& source) {
  std::set<const tensor::Storage*> shared;
  for (uint32_t i = 0; i < source.tensor_slots(); ++i) shared.insert(source[ir::TensorId{i}].tensor.storage().get());
  for (uint32_t i = 0; i < planned.tensor_slots(); ++i) {
    const tensor::StoragePtr& storage = planned[ir::TensorId{i}].tensor.storage();
    if (storage && !shared.contains(storage.get())) tensor::let_go_of(*storage);
  }
}

double elements_of(const ops::Type& type) {
  if (!type.is_tensor() || !type.dims) return 0;
  return static_cast<double>(ops::product(*type.dims).number().value_or(0));
}

}  // namespace

PartShapes shapes_of(std::span<const tensor::Datum> inputs) {
  PartShapes shapes;
  for (const tensor::Datum& input : inputs) {
    shapes.emplace_back();
    if (input.is_tensor()) shapes.back() = {input.declared(), input.tensor().shape()};
  }
  return shapes;
}

PlannedPart::PlannedPart(const ir::Model& source, const PartShapes& shapes, const Devices& devices,
                         const ProgramOptions& options)
    : model_(source.copy()), inputs_(model_[model_.main_graph()].inputs) {
  fix_types(model_, shapes);
  ir::Rewriter rewriter(model_);
  lower(model_, rewriter, {.rules = devices.first().rules(), .rounds_halves = options.rounds_halves});
  for (const ir::Use& use : model_.outputs(model_.main_graph())) outputs_.push_back(use.value);
  program_.emplace(model_, devices, options);
  let_go_of_own(model_, source);
}

ProgramOptions part_options(const ProgramOptions& whole, std::shared_ptr<KeptWeights> packed,
                            std::shared_ptr<UploadedConstants> uploaded) {
  ProgramOptions options{
      .kept = {}, .tactics = whole.tactics, .is_strict = whole.is_strict, .rounds_halves = whole.rounds_halves};
  options.packed = std::move(packed);
  options.uploaded = std::move(uploaded);
  options.shares_constants = true;
  options.is_part = true;
  options.permits_tf32 = whole.permits_tf32;
  options.tactics.replayed.clear();
  options.tactics.measures = false;
  return options;
}

Part::Part(ir::Model model, Devices devices, ProgramOptions options)
    : model_(std::move(model)), devices_(std::move(devices)), options_(std::move(options)), plans_(kKeptPlans) {}

std::shared_ptr<const PlannedPart> Part::plan(const PartShapes& shapes) const {
  const std::scoped_lock lock(mutex_);
  if (const auto* const known = plans_.find(shapes)) return *known;
  if (!is_worth(shapes)) return plans_.add(shapes, nullptr);
  ++planned_;
  return plans_.add(shapes, std::make_shared<const PlannedPart>(model_, shapes, devices_, options_));
}

bool Part::is_worth(const PartShapes& shapes) const {
  const LoweringRules& rules = devices_.first().rules();
  const double planning = rules.work_of_node * model_[model_.main_graph()].node_count;
  return work_of(shapes) >= (planned_ < kPlannedAnyway ? rules.least_work : planning);
}

// Elements that are computed, and multiply-accumulates, as far as sizes are known; of a body, in one iteration.
double Part::work_of(const PartShapes& shapes) const {
  ops::Inference inference(model_, input_types(model_, shapes));
  inference.run();
  double work = 0;
  for (const ir::NodeId node : ir::live_nodes(model_)) {
    work += static_cast<double>(inference.macs(node).number().value_or(0));
    for (const ir::ValueId result : model_[node].results) {
      if (result.valid()) work += elements_of(inference.type(result));
    }
  }
  return work;
}

}  // namespace assay::engine
