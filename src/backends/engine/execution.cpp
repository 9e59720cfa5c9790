#include "backends/engine/execution.h"

#include "backends/engine/additions.h"
#include "base/parallel.h"
#include "base/recent.h"
#include "base/text.h"
#include "engine/run/context.h"
#include "exec/bound_outputs.h"
#include "exec/sinks.h"
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

struct FeedsOnCard final : exec::HeldFeeds {
  std::vector<exec::Feed> feeds;
};

class EngineExecution final : public exec::Execution {
 public:
  EngineExecution(Plans& plans, const exec::ExecutionOptions& options) : plans_(plans), options_(options) {
    const unsigned threads = options.threads != 0 ? options.threads : plans.options().threads;
    if (threads != 0) threads_.emplace(threads);
    limits_.max_memory_bytes = plans.options().max_memory_bytes;
    limits_.max_steps = plans.options().max_steps;
    limits_.max_work = plans.options().max_work;
    account_ = ops::account_of(limits_);
    limits_.account = &account_;
  }

  void run(std::span<const exec::Feed> feeds, std::span<const std::string> values, exec::TensorSink& sink) override {
    std::optional<PoolScope> scope;
    if (threads_) scope.emplace(*threads_);
    ops::restart(account_, limits_);
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
      if (buffer != nullptr) places[value] = place_of(*buffer);
      if (buffer == nullptr && keeps_) keep(prepared.planned->program(), value, places);
    }
    if (times_additions()) last_inputs_ = inputs;
    prepared.context->follow(stream_);
    prepared.context->run(
        inputs, wanted,
        [&](ir::ValueId value, const tensor::Datum& datum) {
          for (const std::string& name : names[value]) give(name, datum, sink);
        },
        places);
    if (keeps_) prepared.context->wait();
  }

  void follow(std::optional<uint64_t> stream) override { stream_ = stream; }
  void keep_on_device(bool keeps) override { keeps_ = keeps; }

  std::unique_ptr<exec::HeldFeeds> hold(std::span<const exec::Feed> feeds,
                                        std::span<const std::string> outputs) override {
    auto held = std::make_unique<FeedsOnCard>();
    for (const exec::Feed& feed : feeds) {
      const tensor::Tensor& given = feed.value.tensor();
      tensor::StoragePtr there = plans_.placed(given);
      if (!there) return nullptr;
      held->feeds.push_back({feed.name, tensor::Tensor(given.dtype(), given.shape(), std::move(there))});
    }
    exec::KeepingSink keeper;
    run(held->feeds, outputs, keeper);
    std::vector<exec::OutputBuffer> buffers;
    for (const tensor::NamedDatum& output : keeper.values) {
      if (!output.value.is_tensor())
        fail(ErrorCode::unsupported, "the output `{}` is no tensor", printable(output.name));
      const tensor::Tensor& made = output.value.tensor();
      tensor::StoragePtr there = plans_.placed(made);
      if (!there) return nullptr;
      buffers.push_back({output.name, made.dtype(), made.shape(), {}, std::move(there)});
    }
    bind(std::move(buffers));
    return held;
  }
  void run(const exec::HeldFeeds& held, std::span<const std::string> outputs) override {
    exec::IgnoringSink sink;
    run(dynamic_cast<const FeedsOnCard&>(held).feeds, outputs, sink);
  }

  double seconds() const override { return contexts_.last() == nullptr ? 0 : contexts_.last()->context->seconds(); }

  std::optional<exec::DeviceSeconds> device_seconds() const override {
    const auto seconds = contexts_.last() == nullptr ? std::nullopt : contexts_.last()->context->device_seconds();
    if (!seconds) return std::nullopt;
    return exec::DeviceSeconds{seconds->upload, seconds->compute, seconds->download};
  }

  std::vector<exec::LayerSeconds> profile() const override {
    std::vector<exec::LayerSeconds> layers;
    const Prepared* const last = contexts_.last();
    if (last == nullptr) return layers;
    const engine::Program& program = last->planned->program();
    std::vector<double> seconds = last->context->step_seconds();
    if (times_additions()) take_additions(*last, seconds);
    for (size_t i = 0; i < seconds.size(); ++i) {
      const engine::LayerRecord& record = last->layers[i];
      layers.push_back(
          {engine::title_of(record), program.steps()[i].tactic, seconds[i], record.origins, moved_bytes(record)});
    }
    return layers;
  }

  // Additions are measured once, with the inputs of the last run.
  bool profiles_each_run() const override { return !times_additions(); }
  bool times_additions() const override { return options_.times_additions && plans_.has_other_devices(); }

  void bind(std::vector<exec::OutputBuffer> outputs) override { bound_.bind(std::move(outputs), plans_.signature()); }

 private:
  struct Prepared {
    std::shared_ptr<const Planned> planned;
    std::unique_ptr<engine::Context> context;
    std::vector<engine::LayerRecord> layers;  // set if layers are measured
  };

  void take_additions(const Prepared& prepared, std::vector<double>& seconds) const {
    const engine::Program& program = prepared.planned->program();
    engine::Context context(program, limits_, false);
    for (const auto& [step, added] : added_seconds(program, context, last_inputs_)) seconds[step] = added;
  }

  Prepared& prepare(const Shapes& shapes) {
    Prepared* const last = contexts_.last();
    Prepared* const known = contexts_.find(shapes);
    if (last != nullptr && last != known) last->context->rest();
    if (known != nullptr) return *known;
    Prepared made{.planned = plans_.plan(shapes), .context = nullptr, .layers = {}};
    made.context = std::make_unique<engine::Context>(made.planned->program(), engine::ContextPlace{arenas_, 0, limits_},
                                                     options_.profiles);
    made.context->time_device(options_.times_device);
    if (options_.profiles) made.layers = made.planned->layers();
    return contexts_.add(shapes, std::move(made));
  }

  // Memory on the first device for a value whose size the plan knows.
  static void keep(const engine::Program& program, ir::ValueId value,
                   std::map<ir::ValueId, engine::OutputPlace>& places) {
    const engine::Device& device = program.devices().first();
    const engine::TensorDesc& desc = program.slots()[program.slot_of(value).value()].desc;
    if (device.is_host() || !desc.exists() || places.contains(value)) return;
    const auto memory = std::make_shared<engine::DeviceStorage>(
        engine::DeviceStorage::Place{device, device.allocate(desc.size_bytes())});
    places[value] = {desc.dtype, desc.dims, {}, memory};
  }

  void give(const std::string& name, const tensor::Datum& datum, exec::TensorSink& sink) const {
    const exec::OutputBuffer* const buffer = bound_.find(name);
    if (buffer != nullptr && buffer->on_device) return sink.accept(name, placed_on_device(*buffer, datum));
    const bool is_there =
        buffer != nullptr && datum.is_tensor() && datum.tensor().bytes().data() == buffer->bytes.data();
    sink.accept(name, is_there ? datum : bound_.placed(name, datum));
  }

  static std::shared_ptr<const engine::DeviceStorage> device_storage(const exec::OutputBuffer& buffer) {
    return std::dynamic_pointer_cast<const engine::DeviceStorage>(buffer.on_device);
  }
  static engine::OutputPlace place_of(const exec::OutputBuffer& buffer) {
    return {buffer.dtype, buffer.shape, buffer.bytes, device_storage(buffer)};
  }
  // Uploads a value that the host has made.
  tensor::Datum placed_on_device(const exec::OutputBuffer& buffer, const tensor::Datum& datum) const {
    if (datum.is_tensor() && datum.tensor().storage() == buffer.on_device) return datum;
    if (!datum.is_tensor())
      fail(ErrorCode::usage, "output `{}` is bound, but it is not a tensor", printable(buffer.name));
    exec::BoundOutputs::check(buffer, datum.tensor().dtype(), datum.tensor().shape());
    const engine::DeviceStorage::Place place = device_storage(buffer)->find_place().value();
    const std::unique_ptr<engine::Queue> queue = place.device.make_queue();
    queue->follow(stream_);
    queue->upload(datum.tensor().bytes(), place.memory.first);
    queue->wait();
    return exec::BoundOutputs::tensor(buffer);
  }

  Plans& plans_;
  exec::ExecutionOptions options_;
  std::optional<ThreadPool> threads_;
  ops::InterpreterOptions limits_;
  std::vector<ops::InputDatum> last_inputs_;  // while additions are timed
  ops::RunAccount account_;                   // of all contexts
  std::shared_ptr<engine::Arenas> arenas_ = std::make_shared<engine::Arenas>();
  Recent<Shapes, Prepared> contexts_{kKeptPlans};
  exec::BoundOutputs bound_;
  std::optional<uint64_t> stream_;  // of the caller
  bool keeps_ = false;              // values on the device
};

}  // namespace

std::unique_ptr<exec::Execution> make_engine_execution(Plans& plans, const exec::ExecutionOptions& options) {
  return std::make_unique<EngineExecution>(plans, options);
}

}  // namespace assay::backends
