#include "ops/evaluate.h"

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>

#include "base/check.h"
#include "base/parallel.h"
#include "base/text.h"
#include "ops/call_rules.h"
#include "ops/known_dtype.h"
#include "tensor/casts.h"

namespace assay::ops {
namespace {

constexpr uint64_t kWidenedAtATime = 16384;  // elements

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

// Files may give tensors of no element type, or of one that is newer than this program.
void refuse_unknown_dtypes(const Node& node, std::span<const Datum> inputs) {
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_tensor() || tensor::is_known(inputs[i].tensor().dtype())) continue;
    const schema::ArgumentSchema* argument = node.schema() ? node.schema()->input(i) : nullptr;
    require_known_dtype(fmt::format("input {} (`{}`)", i, argument ? argument->name : ""), inputs[i].tensor());
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

double element_count(std::span<const Datum> inputs) {
  double count = 0;
  for (const Datum& input : inputs) count += input.is_tensor() ? static_cast<double>(input.tensor().count()) : 0;
  return count;
}

// Dims being numbers, a count is unknown only where it overflows.
double steps(const Operator& op, const Infer& node) {
  double total = 0;
  for (const auto count : {op.macs, op.work}) {
    if (count == nullptr) continue;
    const Dim known = count(node);
    total += known.is_number() ? static_cast<double>(*known.number()) : std::numeric_limits<double>::infinity();
  }
  return total;
}

uint64_t longest(const Datum& datum) {
  uint64_t most = 0;
  if (datum.is_sequence()) {
    for (const Datum& item : datum.items()) most = std::max(most, longest(item));
  } else if (datum.is_tensor() && datum.tensor().dtype() == DType::string) {
    for (const std::string& text : datum.tensor().strings()) most = std::max<uint64_t>(most, text.size());
  }
  return most;
}

// The most characters of a text among the attributes.
uint64_t longest_written(const Node& node) {
  uint64_t written = 0;
  for (const ir::Attribute& attribute : node.ir_node().attributes) {
    const ir::Attribute* bound = node.find(node.model().text(attribute.name()));
    if (!bound || bound->is_reference()) continue;
    if (bound->type() == ir::AttributeType::string)
      written = std::max(written, node.model().text(bound->string()).size());
    if (bound->type() != ir::AttributeType::tensor) continue;
    const Tensor& tensor = node.model()[bound->tensors().front()].tensor;
    if (tensor.dtype() == DType::string) written = std::max(written, longest(Datum(tensor)));
  }
  return written;
}

// The most characters that a string may have which is made of those of the inputs and of attributes.
uint64_t longest_text(const Results& results, std::span<const Datum> inputs) {
  uint64_t total = results.longest_written;
  for (const Datum& input : inputs) total += longest(input);
  return total;
}

// The outputs as far as inference knows them, elements being at least a carrier wide while they are computed.
Cost cost_of(const Results& results, std::span<const Datum> inputs) {
  Cost cost;
  cost.work = element_count(inputs) + results.steps;
  for (const Type& output : results.types) {
    if (!output.is_tensor() || !output.dims) continue;
    const std::optional<std::vector<int64_t>> shape = numbers(*output.dims);
    if (!shape) continue;
    const bool is_text = output.dtype == DType::string;
    const uint64_t each = is_text ? sizeof(std::string) + longest_text(results, inputs) : sizeof(double);
    const std::optional<uint64_t> count = tensor::element_count(*shape);
    uint64_t bytes = 0;
    const bool overflows = !count || __builtin_mul_overflow(*count, each, &bytes) ||
                           __builtin_add_overflow(cost.bytes, bytes, &cost.bytes);
    if (overflows) fail(ErrorCode::limit, "an output of shape {} does not fit into memory", text(*output.dims));
    cost.work += static_cast<double>(*count);
  }
  return cost;
}

// Checks the node with these inputs, and infers. Kept for inputs of the same types, where nothing else decided.
Results find_results(const Node& node, const Operator& op, std::span<const Datum> inputs, NodeRecord& record) {
  refuse_broken(broken_call_rules(node));
  const std::vector<Knowledge> known = known_inputs(inputs);
  refuse_unknown_dtypes(node, inputs);
  refuse_broken(broken_type_rules(node, known));
  refuse_empty(node, inputs);
  std::vector<Knowledge> found(node.ir_node().results.size());
  bind_output_types(node, known, found);

  const auto space = std::make_shared<DimSpace>();
  NoBodies bodies(node.model());
  Infer infer(node, *space, known, found, &bodies);
  if (op.infer) op.infer(infer);
  refuse_broken(broken_result_rules(node, found));
  refuse_missing_dtypes(found);
  Results results{.space = space, .steps = steps(op, infer), .longest_written = longest_written(node)};
  for (Knowledge& output : found) results.types.push_back(std::move(output.type));
  if (infer.looked_at_types_alone()) record.keep(inputs, results);
  return results;
}

}  // namespace

std::vector<Datum> evaluate(const Node& given, const Operator& op, std::span<const Datum> inputs, BodyRunner& runner,
                            const EvaluationOptions& options) {
  NodeRecord own;
  NodeRecord& record = options.record != nullptr ? *options.record : own;
  const Node node(given, record.made());
  std::optional<Results> found;
  const Results* results = record.find(inputs);
  if (results == nullptr) results = &found.emplace(find_results(node, op, inputs, record));
  if (options.budget) options.budget->admit(cost_of(*results, inputs));
  std::vector<Datum> outputs(results->types.size());
  Eval eval(node, inputs, results->types, outputs, runner, options.is_wide, options.variation);
  try {
    op.eval(eval);
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::limit, "there is not enough memory for it");
  } catch (const std::length_error&) {
    fail(ErrorCode::limit, "there is not enough memory for it");
  }
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
  std::vector<std::byte> bytes(tensor.count() * sizeof(double));
  const std::span<double> elements(reinterpret_cast<double*>(bytes.data()), tensor.count());
  parallel_for(tensor.count(), kWidenedAtATime, [&](uint64_t begin, uint64_t end) {
    tensor::load(tensor.dtype(), tensor.bytes(), begin, elements.subspan(begin, end - begin));
  });
  return Datum(Tensor(DType::float64, tensor.shape(), tensor::make_owned(std::move(bytes))), datum.declared());
}

}  // namespace assay::ops
