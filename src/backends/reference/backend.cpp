#include "exec/backend.h"

#include <map>

#include "base/parallel.h"
#include "base/text.h"
#include "exec/bound_outputs.h"
#include "exec/timed_sink.h"
#include "ir/naming.h"
#include "ir/verify.h"
#include "ops/interpreter.h"

namespace assay::backends {
namespace {

using ValuesByName = std::map<std::string_view, ir::ValueId>;

class ReferenceExecution final : public exec::Execution {
 public:
  ReferenceExecution(const ir::Model& model, const ValuesByName& values, const exec::Signature& signature,
                     const ops::InterpreterOptions& options, unsigned threads)
      : model_(model), values_(values), signature_(signature), interpreter_(model, options) {
    if (threads != 0) threads_.emplace(threads);
  }

  void run(std::span<const exec::Feed> feeds, std::span<const std::string> values, exec::TensorSink& sink) override {
    std::optional<PoolScope> scope;
    if (threads_) scope.emplace(*threads_);
    std::vector<ops::InputDatum> inputs;
    for (const exec::Feed& feed : feeds) inputs.push_back({find(feed.name), feed.value});
    std::vector<ir::ValueId> wanted;
    for (const std::string& name : values) wanted.push_back(find(name));
    exec::TimedSink timed(sink);
    const Stopwatch watch;
    interpreter_.run(inputs, wanted, [&](ir::ValueId value, const tensor::Datum& datum) {
      const std::string_view name = model_.text(model_[value].name);
      timed.accept(name, bound_.placed(name, datum));
    });
    seconds_ = watch.seconds() - timed.seconds();
  }

  double seconds() const override { return seconds_; }
  void bind(std::vector<exec::OutputBuffer> outputs) override { bound_.bind(std::move(outputs), signature_); }

  std::vector<exec::LayerSeconds> profile() const override {
    std::vector<exec::LayerSeconds> layers;
    for (const ops::NodeSeconds& node : interpreter_.node_seconds()) {
      layers.push_back({ir::describe(model_, node.node),
                        std::string(model_.text(model_[node.node].op)),
                        node.seconds,
                        {std::string(ir::known_name(model_, node.node))}});
    }
    return layers;
  }

 private:
  ir::ValueId find(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) fail(ErrorCode::usage, "the model has no value `{}`", printable(name));
    return found->second;
  }

  const ir::Model& model_;
  const ValuesByName& values_;
  const exec::Signature& signature_;
  std::optional<ThreadPool> threads_;
  ops::Interpreter interpreter_;
  exec::BoundOutputs bound_;
  double seconds_ = 0;
};

class ReferenceSession final : public exec::Session {
 public:
  ReferenceSession(const ir::Model& model, const ops::InterpreterOptions& options, unsigned threads)
      : model_(model), options_(options), threads_(threads), signature_(exec::signature_of(model)) {
    const ir::GraphId graph = model.main_graph();
    for (uint32_t i = 0; i < model.value_slots(); ++i) {
      const ir::Value& value = model[ir::ValueId{i}];
      if (value.alive && value.graph == graph) values_.emplace(model.text(value.name), ir::ValueId{i});
    }
  }

  const exec::Signature& signature() const override { return signature_; }

  std::unique_ptr<exec::Execution> make_execution(const exec::ExecutionOptions& options) const override {
    ops::InterpreterOptions interpreter = options_;
    interpreter.times_nodes = options.profiles;
    return std::make_unique<ReferenceExecution>(model_, values_, signature_, interpreter,
                                                options.threads != 0 ? options.threads : threads_);
  }

 private:
  const ir::Model& model_;
  ops::InterpreterOptions options_;
  unsigned threads_;
  exec::Signature signature_;
  ValuesByName values_;
};

class ReferenceBackend final : public exec::Backend {
 public:
  explicit ReferenceBackend(bool is_wide) : is_wide_(is_wide) {}
  std::string_view name() const override { return is_wide_ ? "ref-fp64" : "ref"; }
  std::string_view title() const override { return "the reference"; }
  exec::BackendTraits traits() const override { return {.is_reference = !is_wide_}; }
  exec::Probe probe(const exec::LibrarySearch&) const override { return {.usable = true, .version = "built in"}; }

  std::vector<exec::Refusal> refusals(const ir::Model& model, const exec::LibrarySearch&) const override {
    std::vector<exec::Refusal> refusals;
    const ops::Resolver callees(model);
    for (uint32_t i = 0; i < model.node_slots(); ++i) {
      const ir::Node& node = model[ir::NodeId{i}];
      if (!node.alive || node.is_outputs) continue;
      const std::string reason = ops::refusal(model, node, callees[ir::NodeId{i}]);
      if (!reason.empty()) refusals.push_back({ir::NodeId{i}, reason});
    }
    return refusals;
  }

  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics&) const override {
    ops::InterpreterOptions interpreter;
    interpreter.is_wide = is_wide_;
    interpreter.max_memory_bytes = options.max_memory_bytes;
    interpreter.max_steps = options.max_steps;
    interpreter.max_work = options.max_work;
    return std::make_unique<ReferenceSession>(model, interpreter, options.threads);
  }

 private:
  bool is_wide_;
};

}  // namespace
}  // namespace assay::backends

namespace assay::exec {

Backends backends_reference_backend() {
  Backends backends;
  backends.push_back(std::make_unique<backends::ReferenceBackend>(false));
  backends.push_back(std::make_unique<backends::ReferenceBackend>(true));
  return backends;
}

}  // namespace assay::exec
