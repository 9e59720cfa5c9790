#include "analysis/computations.h"

#include <algorithm>
#include <array>

#include "analysis/fed_types.h"

namespace assay::analysis {
namespace {

using compare::Computation;

constexpr std::array<std::string_view, 30> kTranscendental = {
    "Exp",      "Log",   "Sin",   "Cos",   "Tan",  "Asin",     "Acos",  "Atan",      "Sinh",       "Cosh",
    "Tanh",     "Asinh", "Acosh", "Atanh", "Erf",  "Sigmoid",  "Gelu",  "Softmax",   "LogSoftmax", "Pow",
    "Softplus", "Mish",  "Elu",   "Selu",  "Celu", "FastGelu", "Swish", "Attention", "LSTM",       "GRU"};

// Nodes that move or select elements and round nothing.
constexpr std::array<std::string_view, 30> kExact = {
    "Identity", "Reshape", "Transpose", "Squeeze",  "Unsqueeze", "Flatten", "Slice",  "Split",  "Concat", "Gather",
    "Expand",   "Tile",    "Pad",       "MaxPool",  "Relu",      "Where",   "Max",    "Min",    "Clip",   "Neg",
    "Abs",      "Shape",   "Size",      "GatherND", "ScatterND", "Dropout", "ArgMax", "ArgMin", "TopK",   "Constant"};

template <size_t N>
bool has(const std::array<std::string_view, N>& list, std::string_view op) {
  return std::ranges::find(list, op) != list.end();
}

uint64_t element_count(const ops::Inference& inference, ir::ValueId value) {
  if (!value.valid() || !inference.type(value).dims) return 0;
  const std::optional<std::vector<int64_t>> dims = ops::numbers(*inference.type(value).dims);
  return dims ? tensor::element_count(*dims).value_or(0) : 0;
}

bool is_coarser(tensor::DType a, tensor::DType b) {
  const bool is_floating = tensor::is_floating(a);
  if (tensor::bit_width(a) != tensor::bit_width(b)) return is_floating && tensor::bit_width(a) < tensor::bit_width(b);
  return a == tensor::DType::bfloat16 && b == tensor::DType::float16;
}

void take_narrower(uint32_t bits, uint32_t& narrowest) {
  if (bits != 0 && (narrowest == 0 || bits < narrowest)) narrowest = bits;
}

class Tracer {
 public:
  Tracer(const ir::Model& model, const ops::Inference& inference) : model_(model), inference_(inference) {}

  std::map<std::string, Computation> run() {
    for (const ir::NodeId id : ir::nodes(model_, model_.main_graph())) {
      const ir::Node& node = model_[id];
      const Computation inherited = longest(node);
      for (const ir::ValueId result : node.results) {
        if (result.valid()) known_[result.index] = after(id, node, result, inherited);
      }
    }
    std::map<std::string, Computation> by_name;
    for (const auto& [index, computation] : known_) {
      by_name.emplace(model_.text(model_[ir::ValueId{index}].name), computation);
    }
    return by_name;
  }

 private:
  Computation longest(const ir::Node& node) const {
    Computation result{.coarsest = tensor::DType::float64, .depth = 0};
    take_operands(node, result);
    std::vector<ir::GraphId> pending = model_.bodies(node);
    while (!pending.empty()) {
      const ir::GraphId body = pending.back();
      pending.pop_back();
      for (const ir::NodeId inner : ir::nodes(model_, body)) {
        take_operands(model_[inner], result);
        for (const ir::GraphId deeper : model_.bodies(model_[inner])) pending.push_back(deeper);
      }
      take_operands(model_[model_[body].outputs_node], result);
    }
    return result;
  }

  // Of what a body computes itself nothing is known; what it captures is.
  void take_operands(const ir::Node& node, Computation& result) const {
    for (const ir::Use& use : node.operands) {
      const auto found = use.value.valid() ? known_.find(use.value.index) : known_.end();
      if (found == known_.end()) continue;
      const Computation& operand = found->second;
      result.accumulation_length = std::max(result.accumulation_length, operand.accumulation_length);
      result.depth = std::max(result.depth, operand.depth);
      result.transcendental = result.transcendental || operand.transcendental;
      if (is_coarser(operand.coarsest, result.coarsest)) result.coarsest = operand.coarsest;
      take_narrower(operand.quantized_bits, result.quantized_bits);
    }
  }

  Computation after(ir::NodeId id, const ir::Node& node, ir::ValueId result, Computation computation) const {
    const std::string_view op = model_.text(node.op);
    const ops::Type& type = inference_.type(result);
    computation.output = type.is_tensor() ? type.dtype : tensor::DType::float32;
    if (is_coarser(computation.output, computation.coarsest)) computation.coarsest = computation.output;
    if (op.find("Quantize") != std::string_view::npos && tensor::is_integer(computation.output)) {
      take_narrower(tensor::bit_width(computation.output), computation.quantized_bits);
    }
    if (has(kExact, op)) return computation;
    computation.depth += 1;
    computation.accumulation_length += sum_length(id, node, result);
    computation.transcendental = computation.transcendental || has(kTranscendental, op);
    return computation;
  }

  // Products or elements summed into one element of the result.
  uint64_t sum_length(ir::NodeId id, const ir::Node& node, ir::ValueId result) const {
    const uint64_t elements = element_count(inference_, result);
    if (elements == 0) return 0;
    if (const std::optional<int64_t> macs = inference_.macs(id).number(); macs && *macs > 0) {
      return static_cast<uint64_t>(*macs) / elements;
    }
    const std::string_view op = model_.text(node.op);
    const bool is_sum = op.starts_with("Reduce") || op.find("Normalization") != std::string_view::npos ||
                        op.find("Pool") != std::string_view::npos || op.find("Softmax") != std::string_view::npos;
    if (!is_sum || node.operands.empty()) return 0;
    const uint64_t inputs = element_count(inference_, node.operands[0].value);
    return inputs > elements ? inputs / elements : last_dim(node.operands[0].value);
  }

  uint64_t last_dim(ir::ValueId value) const {
    if (!value.valid() || !inference_.type(value).dims || inference_.type(value).dims->empty()) return 1;
    return static_cast<uint64_t>(std::max<int64_t>(inference_.type(value).dims->back().number().value_or(1), 1));
  }

  const ir::Model& model_;
  const ops::Inference& inference_;
  std::map<uint32_t, Computation> known_;
};

}  // namespace

std::map<std::string, Computation> computations(const ir::Model& model, const tensor::NamedData& feeds) {
  ops::Inference inference(model, fed_types(model, feeds));
  inference.run();
  return Tracer(model, inference).run();
}

}  // namespace assay::analysis
