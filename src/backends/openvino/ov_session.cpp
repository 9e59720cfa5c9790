#include "backends/openvino/ov_session.h"

#include <algorithm>

#include "backends/openvino/ov_compile.h"
#include "backends/openvino/ov_parameters.h"
#include "backends/openvino/ov_values.h"
#include "base/foreign_code.h"
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

class OpenVinoSession final : public exec::Session {
 public:
  OpenVinoSession(const Library& library, const ir::Model& model, exec::TappedValues values,
                  Owned<CompiledModel> compiled)
      : library_(library),
        api_(library.api()),
        values_(std::move(values)),
        results_(result_names(model, values_.extra_outputs())),
        parameters_(library, model, *compiled),
        compiled_(std::move(compiled)),
        request_(nullptr, api_.ov_infer_request_free) {
    InferRequest* made = nullptr;
    library_.check(api_.ov_compiled_model_create_infer_request(compiled_.get(), &made));
    request_.reset(made);
  }

  void run(std::span<const exec::Feed> feeds, std::span<const std::string> values, exec::TensorSink& sink) override {
    std::vector<std::string> wanted;
    for (const std::string& name : values) {
      const std::optional<tensor::Datum> given = values_.given(name, feeds);
      given ? sink.accept(name, *given) : wanted.push_back(name);
    }
    if (wanted.empty()) return;
    const FloatModeGuard guard;
    const std::vector<FeedTensor> inputs = set_inputs(feeds);  // outputs may lie in their memory
    infer();
    for (const std::string& name : wanted) sink.accept(name, result(name));
  }

 private:
  void infer() const {
    const ForeignCode code(kName);
    library_.check(api_.ov_infer_request_infer(request_.get()));
  }

  struct FeedTensor {
    tensor::Tensor copy;
    Owned<OvTensor> tensor;
  };

  std::vector<FeedTensor> set_inputs(std::span<const exec::Feed> feeds) {
    std::vector<FeedTensor> tensors;
    for (const exec::Feed& feed : feeds) {
      const std::optional<size_t> index = parameters_.find(feed);
      if (!index) continue;
      tensor::Tensor copy;
      Owned<OvTensor> tensor = to_ov(library_, feed.value.tensor(), copy);
      library_.check(api_.ov_infer_request_set_input_tensor_by_index(request_.get(), *index, tensor.get()));
      tensors.push_back({std::move(copy), std::move(tensor)});
    }
    return tensors;
  }

  tensor::Datum result(const std::string& name) const {
    const size_t index = static_cast<size_t>(std::ranges::find(results_, name) - results_.begin());
    OvTensor* made = nullptr;
    library_.check(api_.ov_infer_request_get_output_tensor_by_index(request_.get(), index, &made));
    const Owned<OvTensor> tensor(made, api_.ov_tensor_free);
    return to_tensor(library_, tensor.get());
  }

  const Library& library_;
  const Api& api_;
  exec::TappedValues values_;
  std::vector<std::string> results_;
  Parameters parameters_;
  Owned<CompiledModel> compiled_;
  Owned<InferRequest> request_;
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
  return std::make_unique<OpenVinoSession>(library, model, std::move(values), std::move(compiled));
}

}  // namespace assay::backends::ov
