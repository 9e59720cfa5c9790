#include "ir/queries.h"
#include "ops/kernels/elements/type_union.h"
#include "ops/kernels/movement/stack.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The types of carried values after the body. They must hold for every iteration: dims that it changes are not known.
std::vector<Type> infer_carried(const Infer& node, ir::GraphId body, std::vector<Type>& carried) {
  std::vector<Type> outputs;
  for (int round = 0; round < 3; ++round) {
    std::vector<Type> inputs{Type::tensor(DType::int64, Dims{}), Type::tensor(DType::boolean, Dims{})};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    outputs = node.infer_body(body, inputs);
    bool is_stable = true;
    for (size_t i = 0; i < carried.size() && i + 1 < outputs.size(); ++i) {
      const Type merged = type_union(carried[i], outputs[i + 1]);
      is_stable = is_stable && merged.text() == carried[i].text();
      carried[i] = merged;
    }
    if (is_stable) return outputs;
    // Dims that still move after one round are taken as unknown altogether.
    for (Type& type : carried) {
      if (round > 0) type.dims.reset();
    }
  }
  return outputs;
}

// True if a body hands on the condition that it gets, which is also not given or true at the begin.
bool never_breaks(const Infer& node, ir::GraphId body) {
  const ir::Model& model = node.model();
  const std::optional<double> first = node.has(1) ? node.number_of(1) : 1.0;
  if (!first || *first == 0) return false;
  ir::ValueId condition = model.outputs(body)[0].value;
  while (condition && model[condition].producer && ir::is_op(model, model[condition].producer, "Identity")) {
    condition = model[model[condition].producer].operands[0].value;
  }
  return condition == model[body].inputs[1];
}

// The number of iterations, as far as it is known.
Dim trip_count(const Infer& node, ir::GraphId body) {
  if (!node.has(0) || !never_breaks(node, body)) return {};
  const std::optional<Elements> trips = node.elements(0);
  if (!trips || trips->items.size() != 1 || trips->items.front().is_unknown()) return {};
  return max(trips->items.front(), 0);
}

void infer_loop(Infer& node) {
  const ir::GraphId body = node.graph("body");
  const size_t carried_count = node.input_count() < 2 ? 0 : node.input_count() - 2;
  const size_t body_inputs = node.model()[body].inputs.size();
  const size_t body_outputs = node.model().outputs(body).size();
  if (body_inputs != carried_count + 2) {
    fail(ErrorCode::shape, "its body has {} inputs, {} are given to it", body_inputs, carried_count + 2);
  }
  if (body_outputs != node.output_count() + 1 || body_outputs < carried_count + 1) {
    fail(ErrorCode::shape, "its body has {} outputs, expected are the condition, {} carried and {} collected values",
         body_outputs, carried_count, node.output_count() - std::min<size_t>(carried_count, node.output_count()));
  }
  std::vector<Type> carried;
  for (uint32_t i = 2; i < node.input_count(); ++i) carried.push_back(node.has(i) ? node.type(i) : Type());
  const std::vector<Type> outputs = infer_carried(node, body, carried);
  const Dim trips = trip_count(node, body);
  for (uint32_t i = 0; i < node.output_count(); ++i) {
    node.set_type(i, i < carried_count ? carried[i] : stacked(outputs[i + 1], trips));
  }
}

bool truth_of(const Datum& datum) {
  if (!datum.is_tensor() || datum.tensor().count() != 1) {
    fail(ErrorCode::shape, "the condition of a loop must be a tensor with one element");
  }
  return load_elements<uint64_t>(datum.tensor()).front() != 0;
}

Datum scalar_datum(DType dtype, int64_t value) { return make_rounded(dtype, {}, std::vector<int64_t>{value}); }

// The items of a loop that ended before its first iteration: none, of the type that inference finds in its body, else
// the model declares; sizes that neither knows are 0.
Datum collect_nothing(Eval& node, std::span<const Datum> inputs, uint32_t output) {
  const ir::GraphId body = node.graph("body");
  const std::vector<Type> inferred = node.runner().infer_body(body, inputs);
  const Type found = output + 1 < inferred.size() ? inferred[output + 1] : Type();
  const ir::TypeId declared = node.model()[node.model().outputs(body)[output + 1].value].type;
  Shape shape;
  DType dtype = found.dtype;
  if (declared.valid()) {
    const ir::Type& type = node.model()[declared];
    if (dtype == DType::undefined) dtype = type.dtype;
    for (const ir::DimId dim : type.dims) shape.push_back(node.model().dims().as_constant(dim).value_or(0));
  }
  if (found.dims) {
    shape.resize(found.dims->size());
    for (size_t i = 0; i < shape.size(); ++i) shape[i] = (*found.dims)[i].number().value_or(shape[i]);
  }
  if (dtype == DType::undefined) dtype = DType::float32;
  return {stack({}, 0, node.stored(dtype), shape), dtype};
}

std::vector<Datum> inputs_of_body(int64_t step, bool goes_on, std::span<const Datum> carried) {
  std::vector<Datum> inputs{scalar_datum(DType::int64, step), scalar_datum(DType::boolean, goes_on ? 1 : 0)};
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  return inputs;
}

void eval_loop(Eval& node) {
  const int64_t trips = node.scalar<int64_t>(0, -1);  // -1: no limit but the condition
  bool goes_on = node.scalar<uint64_t>(1, 1) != 0;
  const size_t carried_count = node.input_count() < 2 ? 0 : node.input_count() - 2;
  std::vector<Datum> carried;
  for (uint32_t i = 2; i < node.input_count(); ++i) carried.push_back(node.datum(i));
  std::vector<std::vector<Datum>> collected(node.output_count() - carried_count);
  const bool has_limit = node.has(0);
  for (int64_t step = 0; goes_on && (!has_limit || step < trips); ++step) {
    if (static_cast<uint64_t>(step) >= node.runner().max_steps()) {
      throw Error(ErrorCode::limit, fmt::format("the loop did not end within {} iterations", node.runner().max_steps()))
          .remedied_by("max_steps");
    }
    std::vector<Datum> outputs = node.run_body(node.graph("body"), inputs_of_body(step, goes_on, carried));
    goes_on = truth_of(outputs[0]);
    for (size_t i = 0; i < carried_count; ++i) carried[i] = outputs[i + 1];
    for (size_t i = 0; i < collected.size(); ++i) collected[i].push_back(outputs[i + 1 + carried_count]);
  }
  for (uint32_t i = 0; i < node.output_count(); ++i) {
    if (i < carried_count)
      node.set(i, carried[i]);
    else if (const std::vector<Datum>& parts = collected[i - carried_count]; !parts.empty())
      node.set(i, collect(parts, 0));
    else
      node.set(i, collect_nothing(node, inputs_of_body(0, goes_on, carried), i));
  }
}

}  // namespace

OperatorRows operator_control_loop() {
  static constexpr Operator kRows[] = {
      {.name = "Loop",
       .traits = {Nature::control, {.sizes = {0}, .decisions = {0, 1}, .bodies = Bodies::again, .clamps_sizes = true}},
       .infer = infer_loop,
       .eval = eval_loop},
  };
  return kRows;
}

}  // namespace assay::ops
