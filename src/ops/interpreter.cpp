#include "ops/interpreter.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/memory.h"
#include "base/stop.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "ir/excerpt.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "ops/inference.h"

namespace assay::ops {
namespace {

constexpr uint64_t kDefaultMaxSteps = 10'000'000;
constexpr uint64_t kDefaultMaxWork = 10'000'000'000'000;
constexpr size_t kDeepestBody = 200;  // each level takes a piece of the stack

class Level {
 public:
  explicit Level(size_t& depth) : depth_(++depth) {}
  ~Level() { --depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  size_t& depth_;
};

InterpreterOptions with_defaults(InterpreterOptions options) {
  // Operators hold copies while they work, which are not counted.
  if (options.max_memory_bytes == 0) options.max_memory_bytes = available_memory_bytes() / 2;
  if (options.max_steps == 0) options.max_steps = kDefaultMaxSteps;
  if (options.max_work == 0) options.max_work = kDefaultMaxWork;
  return options;
}

Datum constant_of(const ir::Model& model, ir::TensorId id) {
  const ir::TensorEntry& entry = model[id];
  if (entry.sparse) fail(ErrorCode::unsupported, "sparse tensors cannot be computed with here");
  return entry.tensor;
}

}  // namespace

RunAccount account_of(const InterpreterOptions& limits) {
  RunAccount account{.memory = LiveMemory(with_defaults(limits).max_memory_bytes)};
  restart(account, limits);
  return account;
}

void restart(RunAccount& account, const InterpreterOptions& limits) {
  account.steps_left = limits.max_steps != 0 ? limits.max_steps : kDefaultMaxSteps;
  account.work_left = static_cast<double>(limits.max_work != 0 ? limits.max_work : kDefaultMaxWork);
  account.seeds_given = 0;
}

Interpreter::Interpreter(const ir::Model& model, const InterpreterOptions& options)
    : model_(model),
      options_(with_defaults(options)),
      callees_(model),
      was_called_(model.node_slots()),
      records_(model.node_slots()),
      values_(model.value_slots()),
      is_set_(model.value_slots()),
      own_account_(account_of(options_)),
      account_(options_.account != nullptr ? options_.account : &own_account_) {}

Interpreter::~Interpreter() = default;

void Interpreter::run(std::span<const InputDatum> inputs, std::span<const ir::ValueId> wanted, ValueSink sink,
                      const FailureSink* failures) {
  wanted_ = {wanted.begin(), wanted.end()};
  sink_ = &sink;
  failures_ = failures;
  start();
  drop_all();  // values that a failed run left
  for (const InputDatum& input : inputs) set(input.value, carried(input.datum));
  const ir::GraphId graph = model_.main_graph();
  for (const ir::ValueId value : wanted) {
    const ir::Value& facts = model_[value];
    const bool has_default = facts.constant.valid() && !is_set_[value.index];
    if (has_default && facts.kind != ir::ValueKind::result) set(value, value_of(value));
  }
  run_steps(graph);
  drop_all();
}

void Interpreter::start() {
  restart(own_account_, options_);
  node_seconds_.clear();
}

std::vector<Datum> Interpreter::evaluate(ir::NodeId node, std::span<const Datum> inputs,
                                         std::span<const InputDatum> captured) {
  wanted_.clear();
  for (const InputDatum& value : captured) set(value.value, carried(value.datum));
  std::vector<Datum> carried_inputs;
  for (const Datum& input : inputs) carried_inputs.push_back(carried(input));
  try {
    std::vector<Datum> outputs =
        with_frame([&] { return ir::describe(model_, node); }, [&] { return call(node, carried_inputs); });
    for (const InputDatum& value : captured) drop(value.value);
    for (const Datum& output : outputs) account_->memory.add(output, carried_inputs);
    return outputs;
  } catch (...) {
    drop_all();
    throw;
  }
}

void Interpreter::run_alone(ir::NodeId node) {
  with_frame([&] { return ir::describe(model_, node); }, [&] { run_node(node); });
}

std::vector<Datum> Interpreter::run_body(ir::GraphId body, std::span<const Datum> inputs) {
  if (account_->steps_left == 0) {
    throw Error(ErrorCode::limit,
                fmt::format("it did not end within {} iterations of loops and calls of functions", options_.max_steps))
        .remedied_by("max_steps");
  }
  --account_->steps_left;
  if (depth_ == kDeepestBody) fail(ErrorCode::limit, "bodies and functions are nested deeper than {}", kDeepestBody);
  const Level level(depth_);
  const ir::Graph& graph = model_[body];
  if (inputs.size() > graph.inputs.size()) {
    fail(ErrorCode::shape, "its body takes {} inputs, it is given {}", graph.inputs.size(), inputs.size());
  }
  if (auto outputs = run_hooked(body, inputs)) return *std::move(outputs);
  for (size_t i = 0; i < inputs.size(); ++i) set(graph.inputs[i], inputs[i]);
  run_steps(body);
  std::vector<Datum> outputs;
  for (const ir::Use& use : model_.outputs(body)) {
    if (!use.value.valid()) fail(ErrorCode::shape, "output {} of its body has no name", use.index);
    outputs.push_back(value_of(use.value));
  }
  for (const ir::Use& use : model_.outputs(body)) {
    if (use.value.valid() && model_[use.value].graph == body) drop(use.value);
  }
  for (const ir::ValueId input : graph.inputs) drop(input);
  return outputs;
}

// With sizes that were computed outside as constants.
std::vector<Type> Interpreter::infer_body(ir::GraphId body, std::span<const Datum> inputs) {
  constexpr uint64_t kMostSizes = 64;
  ir::Excerpt excerpt = ir::body_excerpt(model_, body);
  std::vector<Type> given;
  std::erase_if(excerpt.inputs, [&](ir::ValueId value) {
    const bool is_own = given.size() < inputs.size();
    const Datum datum = is_own ? inputs[given.size()] : is_set_[value.index] ? values_[value.index] : Datum();
    const bool is_size = !is_own && datum.is_tensor() && tensor::is_integer(datum.tensor().dtype());
    if (is_size && datum.tensor().count() <= kMostSizes) return excerpt.constants.emplace(value, datum.tensor()).second;
    given.push_back(type_of(datum));
    return false;
  });
  const ir::Model model = ir::make_excerpt(model_, excerpt);
  InputTypes types;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].known) types.emplace(model[model.main_graph()].inputs[i], given[i]);
  }
  Inference inference(model, std::move(types));
  inference.run();
  std::vector<Type> outputs;
  for (const ir::Use& use : model.outputs(model.main_graph())) {
    const Tensor* const constant = inference.constant(use.value);
    outputs.push_back(constant ? type_of(*constant) : use.value.valid() ? inference.type(use.value) : Type());
  }
  return outputs;
}

// Attributes of a function's body are those of its call.
std::optional<std::vector<Datum>> Interpreter::run_hooked(ir::GraphId body, std::span<const Datum> inputs) {
  if (options_.body_hook == nullptr || scope_ != nullptr) return std::nullopt;
  return options_.body_hook->run_body(body, inputs, [this](ir::ValueId value) { return value_of(value); });
}

uint64_t Interpreter::next_seed() {
  // Weyl sequence: neighbouring seeds must not give neighbouring streams.
  return options_.seed + 0x9E3779B97F4A7C15ULL * ++account_->seeds_given;
}

void Interpreter::admit(const Cost& cost) {
  account_->memory.require(cost.bytes);
  if (account_->work_left < cost.work) {
    throw Error(ErrorCode::limit, fmt::format("it needs {:.3g} steps of work, {:.3g} of {} are left", cost.work,
                                              account_->work_left, options_.max_work))
        .remedied_by("max_work");
  }
  account_->work_left -= cost.work;
}

const Interpreter::Plan& Interpreter::plan_of(ir::GraphId graph) {
  const auto [entry, is_new] = plans_.try_emplace(graph);
  Plan& plan = entry->second;
  if (!is_new) return plan;
  std::map<ir::NodeId, size_t> place;
  for (const ir::NodeId node : ir::nodes(model_, graph)) {
    place[node] = plan.steps.size();
    plan.steps.push_back({node, {}});
  }
  const auto find_last_use = [&](ir::ValueId value, size_t born) {
    size_t last = born;
    for (const ir::Use& use : ir::uses(model_, value)) {
      if (model_[use.user].is_outputs && model_[use.user].graph == graph) return;  // kept to the end
      const ir::NodeId user = model_.ancestor_in(use.user, graph);
      if (user.valid()) last = std::max(last, place.at(user));
    }
    if (last < plan.steps.size()) plan.steps[last].last_used.push_back(value);
  };
  for (const ir::ValueId input : model_[graph].inputs) find_last_use(input, 0);
  for (const ir::ValueId value : model_[graph].initializers) find_last_use(value, 0);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    for (const ir::ValueId result : model_[plan.steps[i].node].results) {
      if (result.valid()) find_last_use(result, i);
    }
  }
  return plan;
}

void Interpreter::run_steps(ir::GraphId graph) {
  for (const Step& step : plan_of(graph).steps) {
    check_stopped();
    if (!run_guarded(step)) continue;
    for (const ir::ValueId value : step.last_used) drop(value);
  }
}

// Runs a node of the main graph under the failure sink, if there is one; false where it did not run.
bool Interpreter::run_guarded(const Step& step) {
  const auto frame = [&] { return ir::describe(model_, step.node); };
  if (!failures_ || model_[step.node].graph != model_.main_graph()) {
    with_frame(frame, [&] { run_node(step.node); });
    return true;
  }
  for (const ir::Use& use : model_[step.node].operands) {
    const bool is_missing = use.value.valid() && !is_set_[use.value.index] && !model_[use.value].constant.valid();
    if (is_missing) return false;
  }
  try {
    run_node(step.node);
    return true;
  } catch (const Error& error) {
    if (lacks_captured(step.node) || (*failures_)(step.node, error)) return false;
    throw;
  }
}

// True if a body uses a value from outside that is not there, because its node failed.
bool Interpreter::lacks_captured(ir::NodeId node) const {
  bool lacks = false;
  ir::for_each_operand(model_, node, [&](ir::ValueId value) {
    const bool is_outer = model_[value].graph == model_[node].graph;
    lacks = lacks || (is_outer && !is_set_[value.index] && !model_[value].constant.valid());
  });
  return lacks;
}

void Interpreter::run_node(ir::NodeId id) {
  const ir::Node& node = model_[id];
  const Stopwatch watch;
  std::vector<Datum> inputs;
  inputs.reserve(node.operands.size());
  for (const ir::Use& use : node.operands) inputs.push_back(use.value.valid() ? value_of(use.value) : Datum());
  const auto evaluate = [&](std::span<const Datum> given) { return call(id, given); };
  std::vector<Datum> outputs = options_.hook != nullptr && node.graph != model_.main_graph()
                                   ? options_.hook->run(id, inputs, evaluate)
                                   : call(id, inputs);
  if (options_.times_nodes && node.graph == model_.main_graph()) node_seconds_.push_back({id, watch.seconds()});
  for (size_t i = 0; i < node.results.size() && i < outputs.size(); ++i) {
    const ir::ValueId result = node.results[i];
    if (!result.valid()) continue;
    account_->memory.add(outputs[i], inputs);
    set(result, std::move(outputs[i]));
  }
}

std::vector<Datum> Interpreter::call(ir::NodeId id, std::span<const Datum> inputs) {
  const ir::Node& node = model_[id];
  const Callee& callee = callees_[id];
  if (callee.function) return call_function(*callee.function, node, inputs);
  const std::string reason = refusal(model_, node, callee);
  if (!reason.empty()) throw Error(ErrorCode::unsupported, reason);
  const Node facts(model_, node, callee.schema, callee.version, scope_);
  return ops::evaluate(facts, *callee.op, inputs, *this, {options_.is_wide, this, record_of(id), variation_});
}

// Null at the first call, and where attributes are those of the call of a function.
NodeRecord* Interpreter::record_of(ir::NodeId id) {
  std::unique_ptr<NodeRecord>& record = records_[id.index];
  if (record != nullptr) return record.get();
  const bool is_first = !was_called_[id.index];
  was_called_[id.index] = true;
  if (is_first || std::ranges::any_of(model_[id].attributes, &ir::Attribute::is_reference)) return nullptr;
  record = std::make_unique<NodeRecord>();
  return record.get();
}

std::vector<Datum> Interpreter::call_function(const ir::Function& function, const ir::Node& node,
                                              std::span<const Datum> inputs) {
  if (std::ranges::find(active_functions_, &function) != active_functions_.end()) {
    fail(ErrorCode::shape, "function `{}` calls itself", printable(model_.text(function.name)));
  }
  const AttributeScope scope = call_scope(function, Node(model_, node, nullptr, 0, scope_));
  std::vector<Datum> arguments(inputs.begin(), inputs.end());
  arguments.resize(std::max(arguments.size(), model_[function.body].inputs.size()));
  const AttributeScope* outer = std::exchange(scope_, &scope);
  active_functions_.push_back(&function);
  const auto restore = [&] {
    scope_ = outer;
    active_functions_.pop_back();
  };
  try {
    std::vector<Datum> outputs = run_body(function.body, arguments);
    restore();
    return outputs;
  } catch (...) {
    restore();
    throw;
  }
}

Datum Interpreter::value_of(ir::ValueId value) {
  if (is_set_[value.index]) return values_[value.index];
  const ir::Value& facts = model_[value];
  if (!facts.constant.valid()) {
    fail(ErrorCode::usage, "value `{}` has no data", printable(model_.text(facts.name)));
  }
  const Datum constant = constant_of(model_, facts.constant);
  if (!options_.is_wide) return constant;
  set(value, widen(constant));
  account_->memory.add(values_[value.index], {&constant, 1});
  return values_[value.index];
}

void Interpreter::set(ir::ValueId value, Datum datum) {
  values_[value.index] = std::move(datum);
  is_set_[value.index] = true;
  if (!wanted_.empty()) offer(value);
}

void Interpreter::offer(ir::ValueId value) {
  if (wanted_.erase(value) != 0) (*sink_)(value, values_[value.index]);
}

void Interpreter::drop(ir::ValueId value) {
  values_[value.index] = Datum();
  is_set_[value.index] = false;
}

void Interpreter::drop_all() {
  for (uint32_t i = 0; i < values_.size(); ++i) drop(ir::ValueId{i});
}

}  // namespace assay::ops
