#include "ops/evaluate.h"

#include "base/check.h"
#include "base/text.h"
#include "ops/call_rules.h"

namespace assay::ops {
namespace {

// Bodies are not inferred ahead of a run: their outputs come with it.
class NoBodies final : public BodyInference {
 public:
  explicit NoBodies(const ir::Model& model) : model_(model) {}
  std::vector<Type> infer(ir::GraphId body, std::span<const Type>) override {
    return std::vector<Type>(model_.outputs(body).size());
  }

 private:
  const ir::Model& model_;
};

std::vector<Knowledge> known_inputs(std::span<const Datum> inputs) {
  std::vector<Knowledge> known(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    known[i].type = type_of(inputs[i]);
    if (inputs[i].is_tensor()) known[i].constant = &inputs[i].tensor();
  }
  return known;
}

void refuse_broken(const std::vector<std::string>& broken) {
  if (!broken.empty()) throw Error(ErrorCode::shape, broken.front());
}

// An operand that is written may still hold nothing: an empty optional.
void refuse_empty(const Node& node, std::span<const Datum> inputs) {
  for (uint32_t i = 0; node.schema() && i < inputs.size(); ++i) {
    const schema::ArgumentSchema* argument = node.schema()->input(i);
    const bool holds_nothing = node.ir_node().operands[i].value.valid() && inputs[i].is_none();
    if (!holds_nothing || !argument) continue;
    if (argument->types.optional_tensors || argument->types.optional_sequences) continue;
    fail(ErrorCode::shape, "input {} (`{}`) is an empty optional", i, argument->name);
  }
}

// An element type is missing where an attribute asks for one that is none.
void refuse_missing_dtypes(std::span<const Knowledge> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Type& type = outputs[i].type;
    const bool is_missing = type.is_tensor() && type.dtype == DType::undefined;
    if (is_missing) fail(ErrorCode::shape, "output {} would have no element type", i);
  }
}

// Bytes of the outputs as far as inference knows them, elements being at least a carrier wide while they are computed.
uint64_t output_bytes(std::span<const Knowledge> outputs) {
  uint64_t total = 0;
  for (const Knowledge& output : outputs) {
    if (!output.type.is_tensor() || !output.type.dims) continue;
    const std::optional<std::vector<int64_t>> shape = numbers(*output.type.dims);
    if (!shape) continue;
    const std::optional<uint64_t> count = tensor::element_count(*shape);
    uint64_t bytes = 0;
    const bool overflows = !count || __builtin_mul_overflow(*count, sizeof(double), &bytes) ||
                           __builtin_add_overflow(total, bytes, &total);
    if (overflows) fail(ErrorCode::limit, "an output of shape {} does not fit into memory", text(*output.type.dims));
  }
  return total;
}

}  // namespace

std::vector<Datum> evaluate(const Node& node, const Operator& op, std::span<const Datum> inputs, Runner& runner,
                            const EvaluationLimits& limits) {
  refuse_broken(broken_call_rules(node));
  const std::vector<Knowledge> known = known_inputs(inputs);
  refuse_broken(broken_type_rules(node, known));
  refuse_empty(node, inputs);
  std::vector<Knowledge> found(node.ir_node().results.size());
  bind_output_types(node, known, found);

  ir::DimTable dims;
  ir::SymbolTable symbols;
  DimSpace space(dims, symbols);
  NoBodies bodies(node.model());
  Infer infer(node, space, known, found, &bodies);
  if (op.infer) op.infer(infer);
  refuse_broken(broken_result_rules(node, found));
  refuse_missing_dtypes(found);
  const uint64_t bytes = output_bytes(found);
  if (limits.max_output_bytes != 0 && bytes > limits.max_output_bytes) {
    fail(ErrorCode::limit, "it needs {} of memory, {} are left", human_bytes(bytes),
         human_bytes(limits.max_output_bytes));
  }

  std::vector<Type> types;
  for (Knowledge& output : found) types.push_back(std::move(output.type));
  std::vector<Datum> outputs(types.size());
  Eval eval(node, inputs, types, outputs, runner, limits.is_wide);
  op.eval(eval);
  return outputs;
}

Datum widen(const Datum& datum) {
  if (datum.is_sequence()) {
    std::vector<Datum> items;
    for (const Datum& item : datum.items()) items.push_back(widen(item));
    return Datum::sequence(std::move(items));
  }
  if (!datum.is_tensor()) return datum;
  const Tensor& tensor = datum.tensor();
  if (tensor.dtype() == DType::complex64) {
    return Datum(make_rounded(DType::complex128, tensor.shape(), load_elements<std::complex<double>>(tensor)),
                 datum.declared());
  }
  if (!tensor::is_floating(tensor.dtype()) || tensor.dtype() == DType::float64) return datum;
  return Datum(make_rounded(DType::float64, tensor.shape(), load_elements<double>(tensor)), datum.declared());
}

}  // namespace assay::ops
