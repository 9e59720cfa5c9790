// Before: nodes whose operands, and what their bodies capture, are all constant.
// After:  initializers (Constant nodes in functions) with what the reference computes: the same bits.
// Only if: the node is no random one, does not dequantise, nor quantise unless that is asked for, and refers to no
//         attribute of a function; its results are within the size threshold, or, without one, not much larger than
//         what they are computed from.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "ir/queries.h"
#include "ir/walk.h"
#include "ops/interpreter.h"
#include "passes/fold/fold_options.h"
#include "passes/fold/foldable.h"

namespace assay::passes {
namespace {

constexpr uint64_t kMuchLargerBytes = 1 << 20;
constexpr uint64_t kMuchLargerFactor = 2;
constexpr uint64_t kMostSteps = 100'000;  // of all loops
constexpr uint64_t kMostWork = 100'000'000'000;

class Folder {
 public:
  explicit Folder(PassRun& run) : run_(run), model_(run.model()) {
    for (const ir::Function& function : model_.functions()) function_bodies_.insert(function.body);
    const std::optional<uint64_t> known = run.options().get<FoldOptions>().constant_bytes;
    for (uint32_t i = 0; i < model_.tensor_slots() && !known; ++i) {
      const ir::TensorEntry& entry = model_[ir::TensorId{i}];
      if (!entry.dirty) constant_bytes_ += entry.tensor.size_bytes();
    }
    if (known) constant_bytes_ = *known;
  }

  void run() {
    const std::vector<ir::NodeId> nodes = foldable_nodes(run_);
    if (std::ranges::all_of(nodes, [&](ir::NodeId node) { return stays(node); })) return;
    interpreter_.emplace(model_, ops::InterpreterOptions{.max_steps = kMostSteps, .max_work = kMostWork});
    for (const ir::NodeId node : nodes) {
      if (can_run(node)) evaluate(node);
    }
    commit();
  }

 private:
  // In functions constants are Constant nodes.
  bool stays(ir::NodeId node) const {
    return function_bodies_.contains(model_[node].graph) && ir::is_constant_node(model_, node);
  }

  // True if everything that the node needs was computed.
  bool can_run(ir::NodeId node) const {
    return std::ranges::all_of(model_[node].operands, [&](const ir::Use& use) {
      return !use.value.valid() || model_[use.value].constant.valid() || uses_left_.contains(use.value);
    });
  }

  void evaluate(ir::NodeId node);
  bool is_too_large(ir::NodeId node, uint64_t bytes);
  uint64_t operand_bytes(ir::NodeId node) const;
  uint64_t expected_bytes(ir::NodeId node) const;
  void use_up(ir::ValueId value);
  void commit();

  PassRun& run_;
  const ir::Model& model_;
  std::set<ir::GraphId> function_bodies_;
  uint64_t constant_bytes_ = 0;  // of the model as it was
  std::vector<ir::NodeId> folded_;
  std::unordered_map<ir::ValueId, uint64_t> uses_left_;  // of computed values, by nodes that are not folded
  std::optional<ops::Interpreter> interpreter_;
};

// A node whose results turn out to be no tensors, too large, or an error stays as it is.
void Folder::evaluate(ir::NodeId node) {
  if (is_too_large(node, expected_bytes(node))) return;
  const auto result = attempt([&] {
    interpreter_->run_alone(node);
    return std::monostate();
  });
  if (const Error* error = std::get_if<Error>(&result)) {
    run_.skip(node, "the reference cannot run it: " + error->line());
    return;
  }
  uint64_t bytes = 0;
  bool are_tensors = true;
  for (const ir::ValueId value : model_[node].results) {
    if (!value.valid()) continue;
    const ops::Datum& datum = interpreter_->result(value);
    are_tensors = are_tensors && datum.is_tensor();
    if (datum.is_tensor()) bytes += datum.tensor().size_bytes();
  }
  if (!are_tensors || is_too_large(node, bytes)) {
    for (const ir::ValueId value : model_[node].results) {
      if (value.valid()) interpreter_->release(value);
    }
    return;
  }
  folded_.push_back(node);
  for (const ir::ValueId value : model_[node].results) {
    if (!value.valid()) continue;
    uint64_t& uses = uses_left_[value];
    for ([[maybe_unused]] const ir::Use& use : ir::uses(model_, value)) ++uses;
  }
  if (!stays(node)) ir::for_each_operand(model_, node, [&](ir::ValueId value) { use_up(value); });
}

bool Folder::is_too_large(ir::NodeId node, uint64_t bytes) {
  const std::optional<uint64_t> threshold = run_.options().get<FoldOptions>().size_threshold_bytes;
  if (threshold) {
    if (bytes <= *threshold) return false;
    run_.skip(node, fmt::format("its result has {}, the threshold is {}", human_bytes(bytes), human_bytes(*threshold)));
    return true;
  }
  // Constants that were folded before may have grown already.
  const uint64_t basis = std::min(operand_bytes(node), constant_bytes_);
  if (bytes <= kMuchLargerBytes || bytes <= kMuchLargerFactor * basis) return false;
  run_.skip(node, fmt::format("its result has {}, much more than its operands; a size threshold allows it",
                              human_bytes(bytes)));
  return true;
}

uint64_t Folder::operand_bytes(ir::NodeId node) const {
  uint64_t bytes = 0;
  for (const ir::Use& use : model_[node].operands) {
    if (!use.value.valid()) continue;
    const ir::TensorId constant = model_[use.value].constant;
    bytes +=
        constant.valid() ? model_[constant].tensor.size_bytes() : interpreter_->result(use.value).tensor().size_bytes();
  }
  for (const ir::Attribute& attribute : model_[node].attributes) {
    if (attribute.type() != ir::AttributeType::tensor || attribute.is_reference()) continue;
    bytes += model_[attribute.tensors()[0]].tensor.size_bytes();
  }
  return bytes;
}

// The bytes of the results, as far as their types say.
uint64_t Folder::expected_bytes(ir::NodeId node) const {
  uint64_t total = 0;
  for (const ir::ValueId value : model_[node].results) {
    if (!value.valid() || !model_[value].type.valid()) continue;
    const ir::Type& type = model_[model_[value].type];
    if (type.kind != ir::TypeKind::tensor || !type.ranked) continue;
    tensor::Shape shape;
    for (const ir::DimId dim : type.dims) shape.push_back(model_.dims().as_constant(dim).value_or(0));
    const std::optional<uint64_t> count = tensor::element_count(shape);
    total += count ? tensor::packed_bytes(type.dtype, *count).value_or(0) : 0;
  }
  return total;
}

void Folder::use_up(ir::ValueId value) {
  const auto found = uses_left_.find(value);
  if (found != uses_left_.end() && --found->second == 0) interpreter_->release(value);
}

// From the last to the first, so that a value is only kept where something else than a folded node needs it.
void Folder::commit() {
  for (size_t i = folded_.size(); i-- > 0;) {
    if (stays(folded_[i])) continue;
    ir::Patch patch;
    patch.remove(folded_[i]);
    for (const ir::ValueId value : model_[folded_[i]].results) {
      if (!value.valid() || !model_[value].first_use) continue;
      patch.replace(value, patch.add_constant(interpreter_->result(value).tensor()));
      interpreter_->release(value);
    }
    if (!run_.rewriter().commit("fold: all that it needs is constant", patch)) return;
  }
}

void fold_constants(PassRun& run) { Folder(run).run(); }

}  // namespace

Pass pass_fold_fold_constants() {
  return {.name = "fold-constants", .summary = "compute once what is the same in every run", .run = fold_constants};
}

}  // namespace assay::passes
