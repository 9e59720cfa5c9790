#include "exec/backend.h"

#include <map>

#include "base/text.h"
#include "ops/interpreter.h"

namespace assay::backends {
namespace {

class ReferenceSession final : public exec::Session {
 public:
  ReferenceSession(const ir::Model& model, const ops::InterpreterOptions& options)
      : model_(model), interpreter_(model, options) {
    const ir::GraphId graph = model.main_graph();
    for (uint32_t i = 0; i < model.value_slots(); ++i) {
      const ir::Value& value = model[ir::ValueId{i}];
      if (value.alive && value.graph == graph) values_.emplace(model.text(value.name), ir::ValueId{i});
    }
  }

  void run(std::span<const exec::Feed> feeds, std::span<const std::string> values, exec::TensorSink& sink) override {
    std::vector<ops::InputDatum> inputs;
    for (const exec::Feed& feed : feeds) inputs.push_back({find(feed.name), feed.value});
    std::vector<ir::ValueId> wanted;
    for (const std::string& name : values) wanted.push_back(find(name));
    interpreter_.run(inputs, wanted, [&](ir::ValueId value, const tensor::Datum& datum) {
      sink.accept(model_.text(model_[value].name), datum);
    });
  }

 private:
  ir::ValueId find(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) fail(ErrorCode::usage, "the model has no value `{}`", printable(name));
    return found->second;
  }

  const ir::Model& model_;
  ops::Interpreter interpreter_;
  std::map<std::string_view, ir::ValueId> values_;
};

class ReferenceBackend final : public exec::Backend {
 public:
  explicit ReferenceBackend(bool is_wide) : is_wide_(is_wide) {}
  std::string_view name() const override { return is_wide_ ? "ref-fp64" : "ref"; }
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
    return std::make_unique<ReferenceSession>(model, interpreter);
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
