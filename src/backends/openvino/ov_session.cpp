#include "backends/openvino/ov_session.h"

#include <algorithm>

#include "backends/openvino/ov_compile.h"
#include "backends/openvino/ov_parameters.h"
#include "backends/openvino/ov_values.h"
#include "base/foreign_code.h"
#include "base/stopwatch.h"
#include "exec/bound_outputs.h"
#include "exec/tapped_values.h"

namespace assay::backends::ov {
namespace {

constexpr std::string_view kName = "openvino";

// The names of the outputs in the order of the library's results.
std::vector<std::string> result_names(const ir::Model& model, const std::vector<ir::ValueId>& extra_outputs) {
  std::vector<std::string> names;
  for (const ir::Use& use : model.outputs(model.main_graph())) {
    names.emplace_back(use.value ? model.text(model[use.value].name) : "");
  }
  for (const ir::ValueId id : extra_outputs) names.emplace_back(model.text(model[id].name));
  return names;
}

// State that the executions of a session share.
struct Prepared {
  Prepared(const Library& opened, const ir::Model& model, exec::TappedValues tapped, Owned<CompiledModel> made)
      : library(opened),
        values(std::move(tapped)),
        results(result_names(model, values.extra_outputs())),
        parameters(opened, model, *made),
        signature(exec::signature_of(model)),
        compiled(std::move(made)) {}

  const Library& library;
  exec::TappedValues values;
  std::vector<std::string> results;
  Parameters parameters;
  exec::Signature signature;
  Owned<CompiledModel> compiled;
};

class OpenVinoExecution final : public exec::Execution {
 public:
  OpenVinoExecution(const Prepared& prepared, bool is_profiled)
      : library_(prepared.library),
        api_(library_.api()),
        prepared_(prepared),
        is_profiled_(is_profiled),
        request_(make_request()) {}

  void run(std::span<const exec::Feed> feeds, std::span<const std::string> values, exec::TensorSink& sink) override {
    seconds_ = 0;
    std::vector<std::string> wanted;
    for (const std::string& name : values) {
      const std::optional<tensor::Datum> given = prepared_.values.given(name, feeds);
      given ? sink.accept(name, bound_.placed(name, *given)) : wanted.push_back(name);
    }
    if (wanted.empty()) return;
    const FloatModeGuard guard;
    const std::vector<FeedTensor> inputs = set_inputs(feeds);  // outputs may lie in their memory
    infer();
    for (const std::string& name : wanted) {
      const exec::OutputBuffer* const buffer = bound_.find(name);
      sink.accept(name, buffer == nullptr ? result(name) : exec::BoundOutputs::tensor(*buffer));
    }
  }

  double seconds() const override { return seconds_; }

  // Layers that were merged into others take no time and are left out.
  std::vector<exec::LayerSeconds> profile() const override {
    std::vector<exec::LayerSeconds> layers;
    LayerTimes times{};
    if (!is_profiled_) return layers;
    library_.check(api_.ov_infer_request_get_profiling_info(request_.get(), &times));
    for (size_t i = 0; i < times.count; ++i) {
      const LayerTime& time = times.items[i];
      if (time.kind != LayerTime::Kind::executed) continue;
      layers.push_back({time.name,
                        fmt::format("{} {}", time.type, time.kernel),
                        static_cast<double>(time.real_microseconds) * 1e-6,
                        {time.name}});
    }
    api_.ov_profiling_info_list_free(&times);
    return layers;
  }

  // A request keeps the memory that it was once given, so there is a new one.
  void bind(std::vector<exec::OutputBuffer> outputs) override {
    exec::BoundOutputs bound;
    bound.bind(std::move(outputs), prepared_.signature);
    Owned<InferRequest> request = make_request();
    for (const exec::OutputBuffer& output : bound.all()) {
      tensor::Tensor copy;
      const Owned<OvTensor> tensor = to_ov(library_, exec::BoundOutputs::tensor(output), copy);
      library_.check(
          api_.ov_infer_request_set_output_tensor_by_index(request.get(), index_of(output.name), tensor.get()));
    }
    bound_ = std::move(bound);
    request_ = std::move(request);
  }

 private:
  Owned<InferRequest> make_request() const {
    InferRequest* made = nullptr;
    library_.check(api_.ov_compiled_model_create_infer_request(prepared_.compiled.get(), &made));
    return {made, api_.ov_infer_request_free};
  }

  void infer() {
    const Stopwatch watch;
    const ForeignCode code(kName);
    library_.check(api_.ov_infer_request_infer(request_.get()));
    seconds_ = watch.seconds();
  }

  struct FeedTensor {
    tensor::Tensor copy;
    Owned<OvTensor> tensor;
  };

  std::vector<FeedTensor> set_inputs(std::span<const exec::Feed> feeds) {
    std::vector<FeedTensor> tensors;
    for (const exec::Feed& feed : feeds) {
      const std::optional<size_t> index = prepared_.parameters.find(feed);
      if (!index) continue;
      tensor::Tensor copy;
      Owned<OvTensor> tensor = to_ov(library_, feed.value.tensor(), copy);
      library_.check(api_.ov_infer_request_set_input_tensor_by_index(request_.get(), *index, tensor.get()));
      tensors.push_back({std::move(copy), std::move(tensor)});
    }
    return tensors;
  }

  size_t index_of(const std::string& name) const {
    return static_cast<size_t>(std::ranges::find(prepared_.results, name) - prepared_.results.begin());
  }

  tensor::Datum result(const std::string& name) const {
    OvTensor* made = nullptr;
    library_.check(api_.ov_infer_request_get_output_tensor_by_index(request_.get(), index_of(name), &made));
    const Owned<OvTensor> tensor(made, api_.ov_tensor_free);
    return to_tensor(library_, tensor.get());
  }

  const Library& library_;
  const Api& api_;
  const Prepared& prepared_;
  const bool is_profiled_;
  Owned<InferRequest> request_;
  exec::BoundOutputs bound_;
  double seconds_ = 0;
};

class OpenVinoSession final : public exec::Session {
 public:
  OpenVinoSession(const Library& library, const ir::Model& model, exec::TappedValues values,
                  Owned<CompiledModel> compiled, bool is_profiled)
      : prepared_(library, model, std::move(values), std::move(compiled)), is_profiled_(is_profiled) {}

  const exec::Signature& signature() const override { return prepared_.signature; }
  std::unique_ptr<exec::Execution> make_execution(const exec::ExecutionOptions& options) const override {
    const SignalGuard signal_guard;
    return std::make_unique<OpenVinoExecution>(prepared_, is_profiled_ && options.profiles);
  }

 private:
  Prepared prepared_;
  bool is_profiled_;
};

}  // namespace

std::unique_ptr<exec::Session> make_session(const Library& library, const ir::Model& model,
                                            const exec::SessionOptions& options) {
  exec::TappedValues values(model, options.values);
  const SignalGuard signal_guard;
  const FloatModeGuard float_guard;
  const ForeignCode code(kName);
  const onnx::Additions additions{.outputs = values.extra_outputs()};
  Owned<CompiledModel> compiled = compile(library, model, options, additions);
  return std::make_unique<OpenVinoSession>(library, model, std::move(values), std::move(compiled), options.profiles);
}

}  // namespace assay::backends::ov
