#include "backends/engine/execution.h"

#include "base/parallel.h"
#include "base/text.h"
#include "engine/context.h"
#include "exec/bound_outputs.h"
#include "ir/verify.h"

namespace assay::backends {
namespace {

uint64_t moved_bytes(const engine::LayerRecord& layer) {
  uint64_t bytes = 0;
  for (const auto* const tensors : {&layer.inputs, &layer.outputs}) {
    for (const engine::LayerTensor& tensor : *tensors) {
      const std::optional<uint64_t> count = tensor::element_count(tensor.dims);
      if (count && tensor::is_known(tensor.dtype)) bytes += *count * tensor::bit_width(tensor.dtype) / 8;
    }
  }
  return bytes;
}

class EngineExecution final : public exec::Execution {
 public:
  EngineExecution(Plans& plans, const exec::ExecutionOptions& options) : plans_(plans), options_(options) {
    const unsigned threads = options.threads != 0 ? options.threads : plans.options().threads;
    if (threads != 0) threads_.emplace(threads);
  }

  void run(std::span<const exec::Feed> feeds, std::span<const std::string> values, exec::TensorSink& sink) override {
    std::optional<PoolScope> scope;
    if (threads_) scope.emplace(*threads_);
    Prepared& prepared = prepare(plans_.open_shapes(feeds));
    const Lowered& lowered = prepared.planned->lowered();
    std::vector<ops::InputDatum> inputs;
    for (const exec::Feed& feed : feeds) inputs.push_back({lowered.current(feed.name), feed.value});
    std::vector<ir::ValueId> wanted;
    std::map<ir::ValueId, std::vector<std::string>> names;
    std::map<ir::ValueId, engine::OutputPlace> places;
    for (const std::string& name : values) {
      if (const std::optional<tensor::Datum> given = plans_.tapped().given(name, feeds)) {
        sink.accept(name, bound_.placed(name, *given));
        continue;
      }
      const ir::ValueId value = lowered.current(name);
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
    const engine::Program& program = last_->planned->program();
    const std::vector<double>& seconds = last_->context->step_seconds();
    for (size_t i = 0; i < seconds.size(); ++i) {
      const engine::Step& step = program.steps()[i];
      const bool is_node = step.node.valid();
      const engine::LayerRecord& record = last_->layers[i];
      layers.push_back({is_node ? ir::describe(program.model(), step.node) : "copy", step.tactic, seconds[i],
                        record.origins, moved_bytes(record)});
    }
    return layers;
  }

  void bind(std::vector<exec::OutputBuffer> outputs) override { bound_.bind(std::move(outputs), plans_.signature()); }

 private:
  struct Prepared {
    std::shared_ptr<const Planned> planned;
    std::optional<engine::Context> context;
    std::vector<engine::LayerRecord> layers;  // where they are measured
  };

  Prepared& prepare(const Shapes& shapes) {
    Prepared& prepared = contexts_[shapes];
    if (prepared.context) return prepared;
    prepared.planned = plans_.plan(shapes);
    ops::InterpreterOptions limits;
    limits.max_memory_bytes = plans_.options().max_memory_bytes;
    limits.max_steps = plans_.options().max_steps;
    limits.max_work = plans_.options().max_work;
    prepared.context.emplace(prepared.planned->program(), limits, options_.profiles);
    if (options_.profiles) prepared.layers = prepared.planned->layers();
    return prepared;
  }

  void give(const std::string& name, const tensor::Datum& datum, exec::TensorSink& sink) const {
    const exec::OutputBuffer* const buffer = bound_.find(name);
    const bool is_there =
        buffer != nullptr && datum.is_tensor() && datum.tensor().bytes().data() == buffer->bytes.data();
    sink.accept(name, is_there ? datum : bound_.placed(name, datum));
  }

  Plans& plans_;
  exec::ExecutionOptions options_;
  std::optional<ThreadPool> threads_;
  std::map<Shapes, Prepared> contexts_;
  const Prepared* last_ = nullptr;
  exec::BoundOutputs bound_;
};

}  // namespace

std::unique_ptr<exec::Execution> make_engine_execution(Plans& plans, const exec::ExecutionOptions& options) {
  return std::make_unique<EngineExecution>(plans, options);
}

}  // namespace assay::backends
