#include "exec/shape_inputs.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace assay::exec {
namespace {

// Operands whose elements decide the shape of a result.
struct ShapeOperands {
  std::string_view op;
  uint32_t first;
  uint32_t last;
};
constexpr std::array kDeciding = {
    ShapeOperands{"Reshape", 1, 1},
    ShapeOperands{"Expand", 1, 1},
    ShapeOperands{"Tile", 1, 1},
    ShapeOperands{"Slice", 1, 4},
    ShapeOperands{"Pad", 1, 1},
    ShapeOperands{"Pad", 3, 3},
    ShapeOperands{"Resize", 2, 3},
    ShapeOperands{"Upsample", 1, 1},
    ShapeOperands{"Range", 0, 2},
    ShapeOperands{"TopK", 1, 1},
    ShapeOperands{"OneHot", 1, 1},
    ShapeOperands{"Split", 1, 1},
    ShapeOperands{"Squeeze", 1, 1},
    ShapeOperands{"Unsqueeze", 1, 1},
    ShapeOperands{"ConstantOfShape", 0, 0},
    ShapeOperands{"CenterCropPad", 1, 1},
    ShapeOperands{"AffineGrid", 1, 1},
    ShapeOperands{"MaxUnpool", 2, 2},
    ShapeOperands{"DFT", 1, 1},
    ShapeOperands{"STFT", 1, 1},
    ShapeOperands{"Loop", 0, 0},
    ShapeOperands{"Col2Im", 1, 1},
    ShapeOperands{"SplitToSequence", 1, 1},
    ShapeOperands{"HannWindow", 0, 0},
    ShapeOperands{"HammingWindow", 0, 0},
    ShapeOperands{"BlackmanWindow", 0, 0},
    ShapeOperands{"MelWeightMatrix", 0, 1},
};

// Operators that compute with elements as the arithmetic of shapes does. Those of `Reduce…` are named by their prefix.
constexpr std::array<std::string_view, 30> kCarrying = {
    "Identity", "Cast", "Reshape", "Unsqueeze", "Squeeze", "Flatten", "Expand", "Slice",     "Concat", "Gather",
    "Add",      "Sub",  "Mul",     "Div",       "Mod",     "Neg",     "Abs",    "Min",       "Max",    "Where",
    "Floor",    "Ceil", "Round",   "Equal",     "Less",    "Greater", "Not",    "Transpose", "Range",  "CumSum"};

class Follower {
 public:
  explicit Follower(const ir::Model& model) : model_(model) {}

  bool decides_shape(ir::ValueId input) {
    std::set<uint32_t> seen;
    std::vector<ir::ValueId> open = {input};
    while (!open.empty()) {
      const ir::ValueId value = open.back();
      open.pop_back();
      if (!seen.insert(value.index).second) continue;
      for (const ir::Use& use : ir::uses(model_, value)) {
        const ir::Node& node = model_[use.user];
        if (node.is_outputs || !model_.text(node.domain).empty()) continue;
        if (is_deciding(model_.text(node.op), use.index)) return true;
        if (!carries(model_.text(node.op))) continue;
        for (const ir::ValueId result : node.results) {
          if (result.valid()) open.push_back(result);
        }
      }
    }
    return false;
  }

 private:
  static bool is_deciding(std::string_view op, uint32_t index) {
    const auto decides = [&](const ShapeOperands& row) {
      return (row.op == op || (row.op == "Unsqueeze" && op.starts_with("Reduce"))) && row.first <= index &&
             index <= row.last;
    };
    return std::ranges::any_of(kDeciding, decides);
  }
  static bool carries(std::string_view op) {
    return op.starts_with("Reduce") || std::ranges::find(kCarrying, op) != kCarrying.end();
  }

  const ir::Model& model_;
};

bool holds_numbers(const ir::Model& model, ir::ValueId input) {
  const ir::TypeId type = model[input].type;
  if (!type.valid() || model[type].kind != ir::TypeKind::tensor) return false;
  if (model[type].ranked && model[type].dims.size() > 1) return false;
  return tensor::is_integer(model[type].dtype) || tensor::is_floating(model[type].dtype);
}

}  // namespace

std::vector<ir::ValueId> shape_inputs(const ir::Model& model) {
  std::vector<ir::ValueId> inputs;
  Follower follower(model);
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    if (holds_numbers(model, input) && follower.decides_shape(input)) inputs.push_back(input);
  }
  return inputs;
}

}  // namespace assay::exec
