#include "debug/accuracy/layer_oracle.h"

#include <set>

#include "ir/walk.h"
#include "tensor/elements.h"

namespace assay::debug {

LayerOracle::LayerOracle(const ir::Model& model, uint64_t max_memory_bytes)
    : model_(model),
      wide_(model, {.is_wide = true, .max_memory_bytes = max_memory_bytes}),
      narrow_(model, {.max_memory_bytes = max_memory_bytes}) {}

std::vector<ir::ValueId> LayerOracle::captured(ir::NodeId node) const {
  std::vector<ir::ValueId> values;
  if (model_.bodies(model_[node]).empty()) return values;
  std::set<ir::ValueId> known;
  ir::for_each_operand(model_, node, [&](ir::ValueId value) {
    if (model_[value].graph == model_.main_graph() && known.insert(value).second) values.push_back(value);
  });
  return values;
}

std::vector<Datum> LayerOracle::run(ops::Interpreter& interpreter, ir::NodeId node,
                                    const OperandSource& operands) const {
  std::vector<Datum> inputs;
  for (const ir::Use& use : model_[node].operands) inputs.push_back(use.value ? operands(use.value) : Datum());
  std::vector<ops::InputDatum> outer;
  for (const ir::ValueId value : captured(node)) outer.push_back({value, operands(value)});
  interpreter.start();
  return interpreter.evaluate(node, inputs, outer);
}

bool is_numeric(const Datum& datum) {
  if (!datum.is_tensor()) return false;
  const tensor::DTypeKind kind = tensor::kind(datum.tensor().dtype());
  return kind != tensor::DTypeKind::string && kind != tensor::DTypeKind::complex && kind != tensor::DTypeKind::none;
}

std::vector<double> numbers_of(const Datum& datum) { return tensor::load_elements<double>(datum.tensor()); }

Datum with_numbers(const Datum& datum, std::vector<double> numbers) {
  return Datum(tensor::make_tensor(tensor::DType::float64, datum.tensor().shape(), std::span<const double>(numbers)),
               datum.declared());
}

}  // namespace assay::debug
