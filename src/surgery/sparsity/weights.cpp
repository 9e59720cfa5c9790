#include "surgery/sparsity/weights.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "ir/walk.h"
#include "ir/written.h"
#include "ops/traits.h"

namespace assay::surgery {
namespace {

using ir::ValueId;

// Operators whose operands are usually no weights, so that nothing is said about them.
constexpr std::array<std::string_view, 9> kUsualEnds = {"LayerNormalization", "Reshape", "Concat", "Slice", "Shape",
                                                        "Unsqueeze",          "Gather",  "Mul",    "Add"};

bool contains(std::span<const std::string_view> list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

bool keeps_axes(const ir::Model& model, ir::NodeId node) {
  const ops::Traits& traits = ops::traits(model, node);
  const std::string_view op = model.text(model[node].op);
  return traits.is(ops::Nature::quantization) || traits.is(ops::Nature::conversion) || traits.is_identity ||
         op == "TRT_FP8QuantizeLinear" || op == "TRT_FP8DequantizeLinear";
}

class CandidateSearch {
 public:
  CandidateSearch(const ir::Model& model, std::vector<results::SkippedWeight>& skipped)
      : model_(model), skipped_(skipped) {}

  std::vector<SparsityCandidate> run() {
    for (const ir::NodeId node : ir::live_nodes(model_)) visit(model_[node]);
    return std::move(found_);
  }

 private:
  // The axis that is summed over; -2 of a vector is its only axis.
  void visit(const ir::Node& node) {
    const std::string_view op = model_.text(node.op);
    if (op == "Conv") follow(node, 1, 1);
    // The axis of a grouped one runs over all groups.
    if (op == "ConvTranspose" && integer(node, "group", 1) == 1) follow(node, 1, 0);
    if (op == "MatMul") {
      follow(node, 0, -1);
      follow(node, 1, -2);
    }
    if (op == "Gemm") {
      follow(node, 0, integer(node, "transA", 0) != 0 ? 0 : 1);
      follow(node, 1, integer(node, "transB", 0) != 0 ? 1 : 0);
    }
  }

  int64_t integer(const ir::Node& node, std::string_view name, int64_t otherwise) const {
    return ir::written_integer(model_, node, name).value_or(otherwise);
  }

  // Goes back to the weight; a cycle of a damaged graph ends it.
  void follow(const ir::Node& node, size_t operand, int64_t axis) {
    if (operand >= node.operands.size()) return;
    ValueId value = node.operands[operand].value;
    ir::NodeId dequantize;
    for (uint32_t steps = 0; value && steps < model_.node_slots(); ++steps) {
      if (model_[value].constant) return add(value, model_[value].constant, axis, dequantize);
      const ir::NodeId producer = model_[value].producer;
      if (!producer || !step(value, axis)) return;
      const bool dequantizes = model_.text(model_[producer].op).ends_with("DequantizeLinear");
      dequantize = dequantizes ? producer : model_.text(model_[producer].op) == "Identity" ? dequantize : ir::NodeId{};
      if (const ir::TensorId constant = constant_of(model_[producer])) return add(value, constant, axis, {});
      value = model_[producer].operands.empty() ? ValueId{} : model_[producer].operands[0].value;
    }
  }

  // True if the producer can be followed; changes the axis to that of its operand.
  bool step(ValueId value, int64_t& axis) {
    const ir::Node& node = model_[model_[value].producer];
    const std::string_view op = model_.text(node.op);
    if (keeps_axes(model_, model_[value].producer) || op == "Constant") return true;
    if (op == "Transpose") return transpose(node, axis);
    const std::string reason =
        fmt::format("produced by {} type: {} is unsupported!", node.name.empty() ? "an unnamed node," : node.name, op);
    if (!contains(kUsualEnds, op)) skip(value, reason);
    return false;
  }

  // Without `perm` the axes are reversed, so that counting from the front and from the end change places.
  bool transpose(const ir::Node& node, int64_t& axis) const {
    const ir::Attribute* const attribute = model_.find_attribute(node, "perm");
    if (!attribute) {
      axis = -axis - 1;
      return true;
    }
    if (attribute->is_reference() || attribute->type() != ir::AttributeType::integers) return false;
    const std::span<const int64_t> perm = attribute->integers();
    const int64_t rank = static_cast<int64_t>(perm.size());
    const int64_t place = axis < 0 ? axis + rank : axis;
    if (place < 0 || place >= rank) return false;
    axis = perm[static_cast<size_t>(place)];
    return axis >= 0 && axis < rank;
  }

  ir::TensorId constant_of(const ir::Node& node) const {
    if (model_.text(node.op) != "Constant") return {};
    const ir::Attribute* const value = model_.find_attribute(node, "value");
    const bool holds = value && value->type() == ir::AttributeType::tensor && !value->is_reference();
    return holds ? value->tensors()[0] : ir::TensorId{};
  }

  void add(ValueId value, ir::TensorId tensor, int64_t axis, ir::NodeId dequantize) {
    const int64_t rank = static_cast<int64_t>(model_[tensor].tensor.shape().size());
    if (axis == -2 && rank == 1) axis = -1;
    const SparsityCandidate candidate = {std::string(model_.text(model_[value].name)), tensor,
                                         axis < 0 ? axis + rank : axis, dequantize};
    if (seen_.emplace(tensor, candidate.axis).second) found_.push_back(candidate);
  }

  void skip(ValueId value, const std::string& reason) {
    if (!skipped_values_.insert(value).second) return;
    skipped_.push_back({std::string(model_.text(model_[value].name)), reason, true});
  }

  const ir::Model& model_;
  std::vector<results::SkippedWeight>& skipped_;
  std::vector<SparsityCandidate> found_;
  std::set<std::pair<ir::TensorId, int64_t>> seen_;
  std::set<ValueId> skipped_values_;
};

}  // namespace

std::vector<SparsityCandidate> find_sparsity_candidates(const ir::Model& model,
                                                        std::vector<results::SkippedWeight>& skipped) {
  return CandidateSearch(model, skipped).run();
}

}  // namespace assay::surgery
