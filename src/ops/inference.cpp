#include "ops/inference.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "ops/call_rules.h"
#include "ops/evaluate.h"
#include "ops/shapes_alone.h"

namespace assay::ops {
namespace {

constexpr uint64_t kMaxFoldedElements = 4096;  // tensors that compute shapes are small
constexpr uint64_t kMaxFoldedBytes = kMaxFoldedElements * sizeof(double);
constexpr double kMaxFoldingWork = 1'000'000;  // of one node
constexpr double kMaxFoldingWorkInAll = 1'000'000'000;
constexpr size_t kDeepestBody = 200;  // each level takes a piece of the stack

// Nodes of bodies and functions that are looked at, those that are looked at again for each loop or call included.
uint64_t most_steps(const ir::Model& model) { return 200'000 + 20 * uint64_t{model.node_slots()}; }

bool is_small(const Tensor& tensor) { return tensor.count() <= kMaxFoldedElements; }

// True if a and b can be the types of one value.
bool agree(const Type& a, const Type& b) {
  if (!a.known || !b.known) return true;
  if (a.kind != b.kind) return false;
  const bool has_dtypes = a.dtype != DType::undefined && b.dtype != DType::undefined;
  if (has_dtypes && a.dtype != b.dtype) return false;
  if (a.element && b.element && !agree(*a.element, *b.element)) return false;
  if (!a.dims || !b.dims) return true;
  if (a.dims->size() != b.dims->size()) return false;
  for (size_t i = 0; i < a.dims->size(); ++i) {
    const Dim& x = (*a.dims)[i];
    const Dim& y = (*b.dims)[i];
    if (x.is_number() && y.is_number() && !x.equals(y)) return false;
  }
  return true;
}

// True if both are tensors of one type with the same numbers as dims, so that neither says more.
bool are_equal_numbers(const Type& a, const Type& b) {
  if (!a.is_tensor() || !b.is_tensor() || a.dtype != b.dtype || !a.dims || !b.dims) return false;
  return std::ranges::equal(*a.dims, *b.dims, [](const Dim& x, const Dim& y) { return x.is_number() && x.equals(y); });
}

// The type that both say together; if they differ, `inferred` holds: a number that the model declares, where the
// inputs' names of dims say more, may be left from before the inputs were made dynamic.
Type refined(const Type& inferred, const Type& declared, const DimSpace& space) {
  if (!inferred.known) return declared;
  if (!declared.known || inferred.kind != declared.kind) return inferred;
  Type result = inferred;
  if (result.dtype == DType::undefined) result.dtype = declared.dtype;
  if (inferred.element && declared.element) {
    result.element = std::make_shared<const Type>(refined(*inferred.element, *declared.element, space));
  } else if (declared.element) {
    result.element = declared.element;
  }
  if (!declared.dims) return result;
  if (!result.dims) {
    result.dims = declared.dims;
    return result;
  }
  if (result.dims->size() != declared.dims->size()) return result;
  for (size_t i = 0; i < result.dims->size(); ++i) {
    Dim& dim = (*result.dims)[i];
    const Dim& other = (*declared.dims)[i];
    if (dim.is_unknown() || (space.has_fresh(dim) && other.is_number())) dim = other;
  }
  return result;
}

}  // namespace

Inference::Inference(const ir::Model& model, InputTypes given)
    : model_(model), given_(std::move(given)), space_(model), callees_(model), model_dims_(model.dims().size()) {
  set_limits();
  add_slots();
}

Inference::~Inference() = default;

void Inference::add_slots() {
  while (types_.size() < model_.value_slots()) types_.add();
}

void Inference::set_limits() {
  steps_left_ = most_steps(model_);
  work_left_ = kMaxFoldingWorkInAll;
}

void Inference::run() {
  const ir::GraphId graph = model_.main_graph();
  for (const ir::ValueId input : model_[graph].inputs) infer_input(input);
  infer_graph(graph);
}

void Inference::infer_input(ir::ValueId input) {
  Type& type = types_[input];
  const auto given = given_.find(input);
  type = given == given_.end() ? declared_type(model_[input].type) : given->second;
  if (!type.dims) return;
  name_dims(input, *type.dims);
  for (const Dim& dim : *type.dims) input_dims_.insert(space_.to_id(dim));
}

const Tensor* Inference::constant(ir::ValueId value) const {
  if (!value) return nullptr;
  const auto found = folded_.find(value);
  if (found != folded_.end()) return found->second.get();
  const ir::Value& facts = model_[value];
  // The default of an input may be overridden.
  if (facts.kind != ir::ValueKind::initializer || !facts.constant.valid()) return nullptr;
  const ir::TensorEntry& entry = model_[facts.constant];
  return entry.sparse ? nullptr : &entry.tensor;
}

bool Inference::is_data_size(const Dim& dim) const {
  return dim.is_unknown() || space_.has_fresh(dim) || data_dims_.contains(space_.to_id(dim));
}

const Elements* Inference::elements(ir::ValueId value) const {
  const auto found = elements_.find(value);
  return found == elements_.end() ? nullptr : &found->second;
}

Dim Inference::macs(ir::NodeId node) const {
  const auto found = macs_.find(node);
  return found == macs_.end() ? Dim(0) : found->second;
}

std::vector<Type> Inference::infer(ir::GraphId body, std::span<const Type> inputs) {
  if (!may_enter(body, model_[body].parent)) return std::vector<Type>(model_.outputs(body).size());
  return infer_entered(body, inputs);
}

// True if a body, or the function that a node calls, may be looked at once more; the first time that it may not is a
// finding.
bool Inference::may_enter(ir::GraphId graph, ir::NodeId node) {
  const uint64_t steps = uint64_t{model_[graph].node_count} + 1;
  if (depth_ == kDeepestBody) {
    report(node, "limit", fmt::format("bodies and functions are nested deeper than {}", kDeepestBody));
    return false;
  }
  if (steps < steps_left_) {
    steps_left_ -= steps;
    return true;
  }
  if (std::exchange(steps_left_, 0) > 0) {
    report(
        node, "limit",
        fmt::format("bodies and functions come to more than {} nodes: the rest is not examined", most_steps(model_)));
  }
  return false;
}

std::vector<Type> Inference::infer_entered(ir::GraphId body, std::span<const Type> inputs) {
  const ir::Graph& graph = model_[body];
  entered_.insert(body);
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Type declared = declared_type(model_[graph.inputs[i]].type);
    types_[graph.inputs[i]] = i < inputs.size() ? refined(inputs[i], declared, space_) : declared;
  }
  ++depth_;
  infer_graph(body);
  --depth_;
  std::vector<Type> outputs;
  for (const ir::Use& use : model_.outputs(body))
    outputs.push_back(use.value.valid() ? known_of(use.value).type : Type());
  return outputs;
}

std::vector<Datum> Inference::run_body(ir::GraphId, std::span<const Datum>) {
  fail(ErrorCode::unsupported, "nodes with bodies are not run during inference");
}

void Inference::admit(const Cost& cost) {
  if (cost.bytes > kMaxFoldedBytes || cost.work > std::min(kMaxFoldingWork, work_left_)) {
    fail(ErrorCode::limit, "it is too large to be computed during inference");
  }
  work_left_ -= cost.work;
}

void Inference::infer_graph(ir::GraphId graph) {
  for (const ir::NodeId id : ir::nodes(model_, graph)) infer_node(id);
}

void Inference::infer_node(ir::NodeId id) {
  const ir::Node& node = model_[id];
  const Callee& callee = callees_[id];
  const Node facts(model_, node, callee.schema, callee.version, scope_);
  std::vector<Knowledge> inputs;
  for (const ir::Use& use : node.operands) inputs.push_back(use.value.valid() ? known_of(use.value) : Knowledge());
  std::vector<Knowledge> found =
      callee.function ? infer_function(id, facts, inputs) : infer_operator(id, facts, inputs);
  for (size_t i = 0; i < node.results.size(); ++i) {
    if (node.results[i].valid()) take(id, node.results[i], i < found.size() ? std::move(found[i]) : Knowledge());
  }
}

std::vector<Knowledge> Inference::infer_operator(ir::NodeId id, const Node& node, std::span<const Knowledge> inputs) {
  std::vector<Knowledge> outputs(node.ir_node().results.size());
  const Callee& callee = callees_[id];
  std::vector<std::string> broken = broken_call_rules(node);
  const bool has_call = broken.empty();
  if (has_call) broken = broken_type_rules(node, inputs);
  for (std::string& rule : broken) report(id, "schema", std::move(rule));
  bind_output_types(node, inputs, outputs);
  const Operator* const op = callee.op != nullptr ? callee.op : find_shapes_alone(node);
  if (op == nullptr || !broken.empty()) return outputs;
  if (callee.op && fold(node, *callee.op, inputs, outputs)) return outputs;
  try {
    Infer infer(node, space_, inputs, outputs, this);
    if (op->infer) op->infer(infer);
    for (std::string& rule : broken_result_rules(node, outputs)) report(id, "schema", std::move(rule));
    if (op->macs) macs_.insert_or_assign(id, op->macs(infer));
  } catch (const Error& error) {
    report(id, "shape", error.line());
    for (Knowledge& output : outputs) {
      output.type.dims.reset();
      output.elements.reset();
    }
  }
  return outputs;
}

std::vector<Knowledge> Inference::infer_function(ir::NodeId call, const Node& node, std::span<const Knowledge> inputs) {
  const ir::Function& function = *callees_[call].function;
  std::vector<Knowledge> outputs(node.ir_node().results.size());
  if (std::ranges::find(active_functions_, &function) != active_functions_.end()) return outputs;
  if (!may_enter(function.body, call)) {
    macs_.insert_or_assign(call, Dim());
    return outputs;
  }
  const AttributeScope scope = call_scope(function, node);
  const AttributeScope* outer = std::exchange(scope_, &scope);
  active_functions_.push_back(&function);
  const ir::Graph& body = model_[function.body];
  std::vector<Type> types(body.inputs.size());
  for (size_t i = 0; i < types.size(); ++i) {
    elements_.erase(body.inputs[i]);
    folded_.erase(body.inputs[i]);
    if (i >= inputs.size()) continue;
    types[i] = inputs[i].type;
    if (inputs[i].elements) elements_.insert_or_assign(body.inputs[i], *inputs[i].elements);
    if (inputs[i].constant)
      folded_.insert_or_assign(body.inputs[i], std::make_shared<const Tensor>(*inputs[i].constant));
  }
  infer_entered(function.body, types);
  Dim macs = 0;
  for (const ir::NodeId id : ir::nodes(model_, function.body)) macs = macs + this->macs(id);
  macs_.insert_or_assign(call, macs);
  const std::span<const ir::Use> results = model_.outputs(function.body);
  for (size_t i = 0; i < outputs.size() && i < results.size(); ++i) {
    if (results[i].value.valid()) outputs[i] = known_of(results[i].value);
  }
  active_functions_.pop_back();
  scope_ = outer;
  return outputs;
}

bool Inference::fold(const Node& node, const Operator& op, std::span<const Knowledge> inputs,
                     std::span<Knowledge> outputs) {
  if (!op.eval || op.is_random || !model_.bodies(node.ir_node()).empty()) return false;
  std::vector<Datum> data;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (!node.ir_node().operands[i].value.valid()) {
      data.emplace_back();
      continue;
    }
    if (!inputs[i].constant || !is_small(*inputs[i].constant)) return false;
    data.emplace_back(*inputs[i].constant);
  }
  const auto results = attempt([&] {  // nodes that fail on data are reported by infer
    return evaluate(node, op, data, *this, {.budget = this});
  });
  const auto* values = std::get_if<std::vector<Datum>>(&results);
  if (!values) return false;
  for (size_t i = 0; i < values->size(); ++i) {
    const Datum& value = (*values)[i];
    if (value.is_none()) continue;
    outputs[i].type = type_of(value);
    const ir::ValueId result = node.ir_node().results[i];
    if (!value.is_tensor() || !result.valid()) continue;
    const auto [entry, is_new] = folded_.insert_or_assign(result, std::make_shared<const Tensor>(value.tensor()));
    outputs[i].constant = entry->second.get();
  }
  return true;
}

Knowledge Inference::known_of(ir::ValueId value) const {
  Knowledge known;
  known.constant = constant(value);
  if (known.constant) {
    known.type = Type::tensor(known.constant->dtype(), dims_of(known.constant->shape()));
    return known;
  }
  known.type = types_[value];
  const auto found = elements_.find(value);
  if (found != elements_.end()) known.elements = found->second;
  return known;
}

void Inference::take(ir::NodeId node, ir::ValueId value, Knowledge found) {
  if (!found.constant) folded_.erase(value);
  elements_.erase(value);
  if (found.elements &&
      std::ranges::any_of(found.elements->items, [](const Dim& item) { return !item.is_unknown(); })) {
    elements_.insert_or_assign(value, std::move(*found.elements));
  }
  merge_declared(node, value, found.type);
  if (found.type.is_tensor() && found.type.dims) name_dims(value, *found.type.dims);
  if (is_renewing_) replaced_.push_back(std::move(types_[value]));
  types_[value] = std::move(found.type);
}

// Unknown dims become symbols; what was inferred before keeps those that were made for it.
void Inference::name_dims(ir::ValueId value, Dims& dims) {
  const Type& old = types_[value];
  const bool has_old = is_renewing_ && depth_ == 0 && old.dims && old.dims->size() == dims.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].is_unknown()) continue;
    const auto made = has_old ? made_for_.find(space_.to_id((*old.dims)[i])) : made_for_.end();
    const bool is_own = made != made_for_.end() && made->second == std::pair(value, i);
    dims[i] = is_own ? (*old.dims)[i] : space_.fresh();
    made_for_.try_emplace(space_.to_id(dims[i]), value, i);
  }
}

void Inference::merge_declared(ir::NodeId node, ir::ValueId value, Type& type) {
  if (!model_[value].type.valid()) return;
  const Type& declared = declared_type(model_[value].type);
  if (are_equal_numbers(type, declared)) return;
  if (!agree(type, declared)) {
    report(node, agree(bare(type), bare(declared)) ? "declared_shape" : "declared_type",
           fmt::format("`{}` is declared as {}, inferred is {}", printable(model_.text(model_[value].name)),
                       declared.text(), type.text()));
  }
  const Type inferred = std::exchange(type, refined(type, declared, space_));
  if (type.dims) note_data_dims(inferred, *type.dims);
}

// Names of dims that the model declares where inference knows nothing, and that no input has.
void Inference::note_data_dims(const Type& inferred, const Dims& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool is_open = !inferred.dims || inferred.dims->size() != dims.size() || (*inferred.dims)[i].is_unknown();
    const bool is_named = !dims[i].is_unknown() && !dims[i].is_number();
    if (!is_open || !is_named) continue;
    const ir::DimId id = space_.to_id(dims[i]);
    if (!input_dims_.contains(id)) data_dims_.insert(id);
  }
}

const Type& Inference::declared_type(ir::TypeId id) {
  if (!id.valid()) return no_type_;
  const auto [entry, is_new] = declared_.try_emplace(id);
  Type& result = entry->second;
  if (!is_new) return result;
  const ir::Type& type = model_[id];
  result.known = true;
  result.kind = type.kind;
  result.dtype = type.dtype;
  if (type.ranked) {
    result.dims.emplace();
    for (const ir::DimId dim : type.dims) result.dims->push_back(space_.from_model(dim));
  }
  if (type.element.valid()) result.element = std::make_shared<const Type>(declared_type(type.element));
  return result;
}

void Inference::report(ir::NodeId node, std::string_view code, std::string message) {
  if (reported_.emplace(node, message).second) findings_.push_back({node, code, std::move(message)});
}

}  // namespace assay::ops
