#include <algorithm>

#include "ops/kernels/elements/type_union.h"
#include "ops/kernels/movement/stack.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The parts of a node's signature. Version 8 has a leading input for sequence lengths and a batch axis.
struct ScanPlan {
  bool has_batch = false;
  uint32_t first = 0;  // input that the first state comes from
  size_t states = 0;
  size_t scans = 0;
  size_t outputs = 0;  // collected ones
};

ScanPlan plan_of(const Node& node, uint32_t input_count, uint32_t output_count) {
  ScanPlan plan;
  plan.has_batch = node.version() < 9;
  plan.first = plan.has_batch ? 1 : 0;
  const int64_t scans = node.integer("num_scan_inputs");
  const auto given = static_cast<int64_t>(input_count) - plan.first;
  if (scans < 1 || scans > given) {
    fail(ErrorCode::shape, "attribute `num_scan_inputs` is {}, {} inputs are given", scans, given);
  }
  plan.scans = static_cast<size_t>(scans);
  plan.states = static_cast<size_t>(given - scans);
  if (output_count < plan.states) {
    fail(ErrorCode::shape, "it has {} outputs and {} states", output_count, plan.states);
  }
  plan.outputs = output_count - plan.states;
  const ir::GraphId body = node.graph("body");
  const size_t body_inputs = node.model()[body].inputs.size();
  const size_t body_outputs = node.model().outputs(body).size();
  if (body_inputs != plan.states + plan.scans || body_outputs != output_count) {
    fail(ErrorCode::shape, "its body has {} inputs and {} outputs, expected are {} and {}", body_inputs, body_outputs,
         plan.states + plan.scans, output_count);
  }
  return plan;
}

int64_t list_item(const Node& node, std::string_view name, size_t index) {
  const std::vector<int64_t> list = node.integers(name);
  return index < list.size() ? list[index] : 0;
}

std::vector<Type> without_lead(std::vector<Type> types) {
  for (Type& type : types) {
    if (type.dims && !type.dims->empty()) type.dims->erase(type.dims->begin());
  }
  return types;
}

void infer_scan(Infer& node) {
  const ScanPlan plan = plan_of(node, node.input_count(), node.output_count());
  std::vector<Type> inputs;
  Dim batch;
  Dim length;
  for (uint32_t i = plan.first; i < node.input_count(); ++i) {
    Type type = node.type(i);
    const bool is_scan = i - plan.first >= plan.states;
    if (type.dims && plan.has_batch && !type.dims->empty()) {
      batch = unify(batch, type.dims->front(), "batch dims");
      type = without_lead({type}).front();
    }
    if (type.dims && is_scan) {
      const auto rank = static_cast<int64_t>(type.dims->size());
      const int64_t axis = normalize_axis(list_item(node, "scan_input_axes", i - plan.first - plan.states), rank);
      const Dim& dim = (*type.dims)[static_cast<size_t>(axis)];
      length = unify(length, dim, "scanned dims");
      type.dims->erase(type.dims->begin() + axis);
    }
    inputs.push_back(std::move(type));
  }
  const std::vector<Type> results = node.infer_body(node.graph("body"), inputs);
  for (uint32_t i = 0; i < node.output_count(); ++i) {
    Type type = i < plan.states ? type_union(inputs[i], results[i]) : results[i];
    if (type.dims && i >= plan.states) {
      const auto rank = static_cast<int64_t>(type.dims->size()) + 1;
      const int64_t axis = normalize_axis(list_item(node, "scan_output_axes", i - plan.states), rank);
      type.dims->insert(type.dims->begin() + axis, length);
    }
    node.set_type(i, plan.has_batch ? stacked(type, batch) : type);
  }
}

struct Scanned {
  std::vector<Datum> states;
  std::vector<Datum> outputs;
};

// One batch item: states and scanned tensors without batch axis.
Scanned scan_once(Eval& node, const ScanPlan& plan, std::vector<Datum> states, std::span<const Datum> scans,
                  int64_t limit) {
  const auto direction = plan.has_batch ? "directions" : "scan_input_directions";
  std::vector<int64_t> axes;
  int64_t length = -1;
  for (size_t k = 0; k < scans.size(); ++k) {
    const Shape& shape = scans[k].tensor().shape();
    axes.push_back(normalize_axis(list_item(node, "scan_input_axes", k), static_cast<int64_t>(shape.size())));
    const int64_t own = shape[static_cast<size_t>(axes.back())];
    if (length >= 0 && own != length)
      fail(ErrorCode::shape, "scanned dims must be the same, seen {} and {}", length, own);
    length = own;
  }
  const int64_t steps = limit < 0 ? length : std::min(limit, length);
  std::vector<std::vector<Datum>> collected(plan.outputs);
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<Datum> inputs = states;
    for (size_t k = 0; k < scans.size(); ++k) {
      const int64_t place = list_item(node, direction, k) != 0 ? length - 1 - step : step;
      inputs.emplace_back(slice_off(scans[k].tensor(), axes[k], place), scans[k].declared());
    }
    std::vector<Datum> results = node.run_body(node.graph("body"), inputs);
    for (size_t i = 0; i < plan.states; ++i) states[i] = results[i];
    for (size_t i = 0; i < plan.outputs; ++i) collected[i].push_back(results[plan.states + i]);
  }
  Scanned scanned{std::move(states), {}};
  for (size_t i = 0; i < plan.outputs; ++i) {
    if (collected[i].empty()) fail(ErrorCode::shape, "there is nothing to scan: the scanned dim is 0");
    if (list_item(node, "scan_output_directions", i) != 0) std::ranges::reverse(collected[i]);
    scanned.outputs.push_back(collect(collected[i], list_item(node, "scan_output_axes", i)));
  }
  return scanned;
}

// A shorter item of a batch is filled up with zeros.
Datum padded(const Datum& datum, int64_t length) {
  const Tensor& tensor = datum.tensor();
  if (tensor.shape().front() >= length) return datum;
  std::vector<Datum> rows;
  for (int64_t i = 0; i < tensor.shape().front(); ++i) rows.emplace_back(slice_off(tensor, 0, i));
  Shape row(tensor.shape().begin() + 1, tensor.shape().end());
  const uint64_t bytes = tensor::packed_bytes(tensor.dtype(), tensor::element_count(row).value()).value();
  const Datum zeros(Tensor(tensor.dtype(), row, tensor::make_owned(std::vector<std::byte>(bytes))));
  rows.resize(static_cast<size_t>(length), zeros);
  return Datum(stack(rows, 0, tensor.dtype(), {}), datum.declared());
}

void eval_batches(Eval& node, const ScanPlan& plan) {
  const int64_t batches = node.shape(plan.first).front();
  if (batches == 0) fail(ErrorCode::shape, "the batch dim is 0");
  const std::vector<int64_t> limits = node.has(0) ? node.integers_in(0) : std::vector<int64_t>{};
  std::vector<std::vector<Datum>> results(node.output_count());
  for (int64_t b = 0; b < batches; ++b) {
    std::vector<Datum> parts;
    for (uint32_t i = plan.first; i < node.input_count(); ++i) {
      parts.emplace_back(slice_off(node.tensor_in(i), 0, b), node.dtype(i));
    }
    const std::span<const Datum> scans = std::span(parts).subspan(plan.states);
    const int64_t length = scans.front().tensor().shape().front();
    const int64_t limit = static_cast<size_t>(b) < limits.size() ? limits[static_cast<size_t>(b)] : -1;
    const Scanned scanned =
        scan_once(node, plan, {parts.begin(), parts.begin() + static_cast<ptrdiff_t>(plan.states)}, scans, limit);
    for (size_t i = 0; i < plan.states; ++i) results[i].push_back(scanned.states[i]);
    for (size_t i = 0; i < plan.outputs; ++i) results[plan.states + i].push_back(padded(scanned.outputs[i], length));
  }
  for (uint32_t i = 0; i < node.output_count(); ++i) {
    node.set(i, collect(results[i], 0));
  }
}

void eval_scan(Eval& node) {
  const ScanPlan plan = plan_of(node, node.input_count(), node.output_count());
  if (plan.has_batch) return eval_batches(node, plan);
  std::vector<Datum> states;
  std::vector<Datum> scans;
  for (uint32_t i = 0; i < node.input_count(); ++i) (i < plan.states ? states : scans).push_back(node.datum(i));
  const Scanned scanned = scan_once(node, plan, std::move(states), scans, -1);
  for (uint32_t i = 0; i < node.output_count(); ++i) {
    node.set(i, i < plan.states ? scanned.states[i] : scanned.outputs[i - plan.states]);
  }
}

}  // namespace

OperatorRows operator_control_scan() {
  static constexpr Operator kRows[] = {
      {.name = "Scan",
       .since = 8,
       .traits = {Nature::control, {.bodies = Bodies::along_axes}},
       .infer = infer_scan,
       .eval = eval_scan},
  };
  return kRows;
}

}  // namespace assay::ops
