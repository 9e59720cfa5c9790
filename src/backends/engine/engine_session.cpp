#include "backends/engine/engine_session.h"

#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/text.h"
#include "engine/context.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/onednn/library.h"
#include "engine/lower.h"
#include "exec/bound_outputs.h"
#include "exec/tapped_values.h"
#include "ir/verify.h"

namespace assay::backends {
namespace {

using Shapes = std::map<std::string, tensor::Shape>;

// A model planned for one set of input shapes.
struct Planned {
  Planned(const ir::Model& original, const Shapes& shapes, std::span<const std::string> values,
          const engine::Device& device, engine::ProgramOptions options)
      : model(original.copy()), program_options(std::move(options)) {
    engine::fix_shapes(model, shapes);
    if (!shapes.empty()) keep_apart(original, values);
    ir::Rewriter rewriter(model);
    engine::lower(model, rewriter);
    find_values(original);
    for (const std::string& value : values) {
      if (const ir::ValueId found = current(value); found.valid()) program_options.kept.push_back(found);
    }
    program.emplace(model, device, program_options);
  }

  // Where shapes come with the feeds, nobody can ask beforehand which values will be there: all that are named are
  // outputs, which no layer takes in.
  void keep_apart(const ir::Model& original, std::span<const std::string> values) {
    std::vector<ir::ValueId> outputs;
    for (const ir::Use& use : model.outputs(model.main_graph())) outputs.push_back(use.value);
    const std::set<std::string_view> names(values.begin(), values.end());
    for (uint32_t i = 0; i < original.value_slots(); ++i) {
      const ir::Value& value = original[ir::ValueId{i}];
      const bool is_result = value.alive && value.graph == original.main_graph() && value.kind == ir::ValueKind::result;
      const bool is_known = std::ranges::find(outputs, ir::ValueId{i}) != outputs.end();
      if (is_result && !is_known && names.contains(original.text(value.name))) outputs.push_back(ir::ValueId{i});
    }
    ir::Edit(model).set_outputs(model.main_graph(), outputs);
  }

  // What a value of the original is in the lowered model; invalid: it is computed inside a layer.
  ir::ValueId current(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? ir::ValueId{} : found->second.now;
  }

  // The layer that computes a value inside; empty: none has its origin there.
  std::string layer_with(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return {};
    const auto layer = layers_.find(found->second.source);
    return layer == layers_.end() ? "" : ir::describe(model, layer->second);
  }

  ir::Model model;
  engine::ProgramOptions program_options;
  std::optional<engine::Program> program;

 private:
  struct Known {
    ir::ValueId now;
    ir::NodeId source;  // the node of the original that makes it
  };

  void find_values(const ir::Model& original) {
    for (uint32_t i = 0; i < original.value_slots(); ++i) {
      const ir::Value& value = original[ir::ValueId{i}];
      if (!value.alive || value.graph != original.main_graph()) continue;
      const ir::ValueId now = model.origins().current(ir::ValueId{i});
      const bool is_there = now.valid() && model[now].alive && model[now].graph == model.main_graph();
      const ir::NodeId source = value.kind == ir::ValueKind::result ? value.producer : ir::NodeId{};
      values_.try_emplace(original.text(value.name), Known{is_there ? now : ir::ValueId{}, source});
    }
    // What the model takes and gives keeps its place, whatever is computed in another precision.
    const auto outputs = original.outputs(original.main_graph());
    for (size_t i = 0; i < outputs.size(); ++i) {
      values_[original.text(original[outputs[i].value].name)].now = model.outputs(model.main_graph())[i].value;
    }
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
      for (const ir::NodeId source : model.origins().of(node)) layers_.try_emplace(source, node);
    }
  }

  std::unordered_map<std::string_view, Known> values_;  // of the original, by name
  std::unordered_map<ir::NodeId, ir::NodeId> layers_;   // by node of the original
};

// What the executions of a session share.
class Shared {
 public:
  Shared(const ir::Model& original, const exec::SessionOptions& session_options,
         const engine::cpu::Libraries& libraries)
      : model(original),
        options(session_options),
        tapped(original, session_options.values),
        signature(exec::signature_of(original)),
        device_(engine::cpu::make_device(libraries)) {}

  std::shared_ptr<const Planned> plan(const Shapes& shapes) {
    const std::scoped_lock lock(mutex_);
    std::optional<ThreadPool> threads;
    std::optional<PoolScope> scope;
    if (options.threads != 0) scope.emplace(threads.emplace(options.threads));
    std::shared_ptr<const Planned>& planned = plans_[shapes];
    if (!planned) {
      engine::ProgramOptions program_options;
      program_options.packed = packed_;
      planned = std::make_shared<const Planned>(model, shapes, options.values, *device_, std::move(program_options));
    }
    return planned;
  }

  // Of the inputs whose declared shape is open.
  Shapes open_shapes(std::span<const exec::Feed> feeds) const {
    Shapes shapes;
    for (const exec::Feed& feed : feeds) {
      const exec::Port* const port = exec::find_port(signature.inputs, feed.name);
      if (port != nullptr && is_open(*port) && feed.value.is_tensor()) {
        shapes.emplace(feed.name, feed.value.tensor().shape());
      }
    }
    return shapes;
  }

  bool has_open_inputs() const { return std::ranges::any_of(signature.inputs, is_open); }

  const ir::Model& model;
  const exec::SessionOptions options;
  const exec::TappedValues tapped;
  const exec::Signature signature;

 private:
  static bool is_open(const exec::Port& port) {
    if (!port.type || port.type->kind != ir::TypeKind::tensor) return false;
    return !port.type->ranked ||
           std::ranges::any_of(port.type->dims, [](const exec::PortDim& dim) { return !dim.size.has_value(); });
  }

  std::unique_ptr<const engine::Device> device_;
  std::shared_ptr<engine::PackedWeights> packed_ = std::make_shared<engine::PackedWeights>();
  std::mutex mutex_;
  std::map<Shapes, std::shared_ptr<const Planned>> plans_;
};

class EngineExecution final : public exec::Execution {
 public:
  EngineExecution(Shared& shared, const exec::ExecutionOptions& options) : shared_(shared), options_(options) {
    const unsigned threads = options.threads != 0 ? options.threads : shared.options.threads;
    if (threads != 0) threads_.emplace(threads);
  }

  void run(std::span<const exec::Feed> feeds, std::span<const std::string> values, exec::TensorSink& sink) override {
    std::optional<PoolScope> scope;
    if (threads_) scope.emplace(*threads_);
    Prepared& prepared = prepare(shared_.open_shapes(feeds));
    const Planned& planned = *prepared.planned;
    std::vector<ops::InputDatum> inputs;
    for (const exec::Feed& feed : feeds) inputs.push_back({planned.current(feed.name), feed.value});
    std::vector<ir::ValueId> wanted;
    std::map<ir::ValueId, std::vector<std::string>> names;
    std::map<ir::ValueId, engine::OutputPlace> places;
    for (const std::string& name : values) {
      if (const std::optional<tensor::Datum> given = shared_.tapped.given(name, feeds)) {
        sink.accept(name, bound_.placed(name, *given));
        continue;
      }
      const ir::ValueId value = planned.current(name);
      if (!value.valid()) fail(ErrorCode::usage, "the value `{}` is computed inside a layer", printable(name));
      if (names[value].empty()) wanted.push_back(value);
      names[value].push_back(name);
      const exec::OutputBuffer* const buffer = bound_.find(name);
      if (buffer != nullptr) places[value] = {buffer->dtype, buffer->shape, buffer->bytes};
    }
    prepared.context->run(
        inputs, wanted,
        [&](ir::ValueId value, const tensor::Datum& datum) {
          for (const std::string& name : names[value]) give(name, datum, sink);
        },
        places);
    last_ = &prepared;
  }

  double seconds() const override { return last_ == nullptr ? 0 : last_->context->seconds(); }

  std::vector<exec::LayerSeconds> profile() const override {
    std::vector<exec::LayerSeconds> layers;
    if (last_ == nullptr) return layers;
    const engine::Program& program = *last_->planned->program;
    const std::vector<double>& seconds = last_->context->step_seconds();
    for (size_t i = 0; i < seconds.size(); ++i) {
      const engine::Step& step = program.steps()[i];
      const bool is_node = step.node.valid();
      layers.push_back({is_node ? ir::describe(program.model(), step.node) : "copy", step.tactic, seconds[i]});
    }
    return layers;
  }

  void bind(std::vector<exec::OutputBuffer> outputs) override { bound_.bind(std::move(outputs), shared_.signature); }

 private:
  struct Prepared {
    std::shared_ptr<const Planned> planned;
    std::optional<engine::Context> context;
  };

  Prepared& prepare(const Shapes& shapes) {
    Prepared& prepared = contexts_[shapes];
    if (prepared.context) return prepared;
    prepared.planned = shared_.plan(shapes);
    check_memory(*prepared.planned->program);
    ops::InterpreterOptions limits;
    limits.max_memory_bytes = shared_.options.max_memory_bytes;
    limits.max_steps = shared_.options.max_steps;
    limits.max_work = shared_.options.max_work;
    prepared.context.emplace(*prepared.planned->program, limits, options_.profiles);
    return prepared;
  }

  void check_memory(const engine::Program& program) const {
    const uint64_t needed = program.arena_bytes() + program.workspace_bytes();
    const uint64_t limit = shared_.options.max_memory_bytes;
    const uint64_t most = limit != 0 ? limit : available_memory_bytes();
    if (needed <= most) return;
    throw Error(ErrorCode::limit,
                fmt::format("the engine needs {} of memory for values, {} are {}", human_bytes(needed),
                            human_bytes(most), limit != 0 ? "allowed" : "available"))
        .remedied_by("max_memory");
  }

  void give(const std::string& name, const tensor::Datum& datum, exec::TensorSink& sink) const {
    const exec::OutputBuffer* const buffer = bound_.find(name);
    const bool is_there =
        buffer != nullptr && datum.is_tensor() && datum.tensor().bytes().data() == buffer->bytes.data();
    sink.accept(name, is_there ? datum : bound_.placed(name, datum));
  }

  Shared& shared_;
  exec::ExecutionOptions options_;
  std::optional<ThreadPool> threads_;
  std::map<Shapes, Prepared> contexts_;
  const Prepared* last_ = nullptr;
  exec::BoundOutputs bound_;
};

class EngineSession final : public exec::Session {
 public:
  EngineSession(const ir::Model& model, const exec::SessionOptions& options, const engine::cpu::Libraries& libraries)
      : shared_(model, options, libraries) {
    if (!shared_.has_open_inputs()) static_plan_ = shared_.plan({});
  }

  const exec::Signature& signature() const override { return shared_.signature; }

  exec::TapAnswer answer(std::string_view value) const override {
    if (!static_plan_ || shared_.tapped.given(value, {})) return {};
    if (static_plan_->current(value).valid()) return {};
    return {exec::TapAnswer::Kind::absent, static_plan_->layer_with(value), "operators were merged"};
  }

  std::unique_ptr<exec::Execution> make_execution(const exec::ExecutionOptions& options) const override {
    return std::make_unique<EngineExecution>(shared_, options);
  }

 private:
  mutable Shared shared_;
  std::shared_ptr<const Planned> static_plan_;
};

}  // namespace

std::unique_ptr<exec::Session> make_engine_session(const ir::Model& model, const exec::SessionOptions& options,
                                                   Diagnostics& findings) {
  std::string reason;
  const engine::cpu::Libraries libraries{engine::cpu::onednn::Library::find(options.search, reason)};
  if (libraries.onednn == nullptr) {
    findings.warn("engine_library", "", "engine: products run on the slower operators of the reference: " + reason);
  }
  return std::make_unique<EngineSession>(model, options, libraries);
}

}  // namespace assay::backends
