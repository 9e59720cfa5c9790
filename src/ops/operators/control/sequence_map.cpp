#include "ops/operator.h"

namespace assay::ops {
namespace {

// Sequences are taken item by item, everything else goes into each call as it is.
void infer_sequence_map(Infer& node) {
  std::vector<Type> inputs;
  for (uint32_t i = 0; i < node.input_count(); ++i) {
    const Type& type = node.type(i);
    inputs.push_back(type.is_sequence() && type.element ? *type.element : type.is_sequence() ? Type() : type);
  }
  const std::vector<Type> results = node.infer_body(node.graph("body"), inputs);
  if (results.size() != node.output_count()) {
    fail(ErrorCode::shape, "its body has {} outputs, the node has {}", results.size(), node.output_count());
  }
  for (uint32_t i = 0; i < node.output_count(); ++i) node.set_type(i, Type::sequence(results[i]));
}

void eval_sequence_map(Eval& node) {
  if (!node.has(0) || !node.datum(0).is_sequence()) fail(ErrorCode::shape, "input 0 is not a sequence");
  const size_t count = node.datum(0).items().size();
  std::vector<std::vector<Datum>> results(node.output_count());
  for (size_t k = 0; k < count; ++k) {
    std::vector<Datum> inputs;
    for (uint32_t i = 0; i < node.input_count(); ++i) {
      const Datum& datum = node.datum(i);
      if (datum.is_sequence() && datum.items().size() != count) {
        fail(ErrorCode::shape, "sequences must have one length, seen {} and {}", count, datum.items().size());
      }
      inputs.push_back(datum.is_sequence() ? datum.items()[k] : datum);
    }
    const std::vector<Datum> outputs = node.run_body(node.graph("body"), inputs);
    for (size_t i = 0; i < results.size(); ++i) results[i].push_back(outputs[i]);
  }
  for (uint32_t i = 0; i < node.output_count(); ++i) node.set(i, Datum::sequence(std::move(results[i])));
}

}  // namespace

OperatorRows operator_control_sequence_map() {
  static constexpr Operator kRows[] = {
      {.name = "SequenceMap",
       .since = 17,
       .traits = {Nature::control, {.bodies = Bodies::for_each_element}},
       .infer = infer_sequence_map,
       .eval = eval_sequence_map},
  };
  return kRows;
}

}  // namespace assay::ops
