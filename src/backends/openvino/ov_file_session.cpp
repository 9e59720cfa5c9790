#include "backends/openvino/ov_file_session.h"

#include <algorithm>

#include <fmt/format.h>

#include "backends/openvino/ov_compile.h"
#include "backends/openvino/ov_values.h"
#include "base/foreign_code.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "exec/bound_outputs.h"

namespace assay::backends::ov {
namespace {

constexpr std::string_view kFileName = "openvino";

std::string any_name(const Library& library, const Port& port) {
  char* text = nullptr;
  library.check(library.api().ov_port_get_any_name(&port, &text));
  std::string name = text;
  library.api().ov_free(text);
  return name;
}

exec::Port file_port(const Library& library, const Port& made) {
  const Api& api = library.api();
  exec::Port port;
  port.name = any_name(library, made);
  exec::PortType& type = port.type.emplace();
  ElementType element{};
  library.check(api.ov_port_get_element_type(&made, &element));
  type.dtype = to_dtype(element);
  PartialShape shape{};
  library.check(api.ov_port_get_partial_shape(&made, &shape));
  type.ranked = shape.rank.least == shape.rank.most && shape.rank.least >= 0;
  for (int64_t i = 0; type.ranked && i < shape.rank.least; ++i) {
    const Dimension& dim = shape.dims[i];
    const bool is_known = dim.least == dim.most && dim.least >= 0;
    type.dims.push_back({is_known ? std::optional(dim.least) : std::nullopt,
                         is_known ? fmt::format("{}", dim.least) : std::string("?")});
  }
  api.ov_partial_shape_free(&shape);
  return port;
}

template <typename Count, typename Get>
std::vector<exec::Port> file_ports(const Library& library, const CompiledModel& compiled, Count count, Get get) {
  size_t size = 0;
  library.check(count(&compiled, &size));
  std::vector<exec::Port> ports;
  for (size_t i = 0; i < size; ++i) {
    Port* made = nullptr;
    library.check(get(&compiled, i, &made));
    const Owned<Port> port(made, library.api().ov_output_const_port_free);
    ports.push_back(file_port(library, *port));
  }
  return ports;
}

size_t place_of(const std::vector<exec::Port>& ports, std::string_view name) {
  const auto found = std::ranges::find(ports, name, &exec::Port::name);
  if (found == ports.end()) fail(ErrorCode::usage, "openvino: the model has no `{}`", printable(name));
  return static_cast<size_t>(found - ports.begin());
}

// An input or output may have several names, of which the library tells one.
template <typename Find>
std::string told_name(const Library& library, const CompiledModel& compiled, const std::string& name, Find find) {
  Port* made = nullptr;
  if (find(&compiled, name.c_str(), &made) != 0) return name;
  const Owned<Port> port(made, library.api().ov_output_const_port_free);
  return any_name(library, *port);
}

class FileExecution final : public exec::Execution {
 public:
  FileExecution(const Library& library, const exec::Signature& signature, const CompiledModel& compiled)
      : library_(library), api_(library.api()), signature_(signature), compiled_(compiled) {
    InferRequest* made = nullptr;
    library_.check(api_.ov_compiled_model_create_infer_request(&compiled, &made));
    request_ = {made, api_.ov_infer_request_free};
  }

  void run(std::span<const exec::Feed> feeds, std::span<const std::string> values, exec::TensorSink& sink) override {
    const FloatModeGuard guard;
    std::vector<tensor::Tensor> copies(feeds.size());
    std::vector<Owned<OvTensor>> inputs;
    for (size_t i = 0; i < feeds.size(); ++i) {
      inputs.push_back(to_ov(library_, feeds[i].value.tensor(), copies[i]));
      library_.check(api_.ov_infer_request_set_input_tensor_by_index(
          request_.get(), place_of(signature_.inputs, feeds[i].name), inputs.back().get()));
    }
    infer();
    for (const std::string& name : values) sink.accept(name, bound_.placed(name, result(name)));
  }

  double seconds() const override { return seconds_; }
  void bind(std::vector<exec::OutputBuffer> outputs) override { bound_.bind(std::move(outputs), signature_); }

 private:
  void infer() {
    const Stopwatch watch;
    const ForeignCode code(kFileName);
    library_.check(api_.ov_infer_request_infer(request_.get()));
    seconds_ = watch.seconds();
  }

  tensor::Datum result(const std::string& name) const {
    const size_t place =
        place_of(signature_.outputs, told_name(library_, compiled_, name, api_.ov_compiled_model_output_by_name));
    OvTensor* made = nullptr;
    library_.check(api_.ov_infer_request_get_output_tensor_by_index(request_.get(), place, &made));
    const Owned<OvTensor> tensor(made, api_.ov_tensor_free);
    return to_tensor(library_, tensor.get());
  }

  const Library& library_;
  const Api& api_;
  const exec::Signature& signature_;
  const CompiledModel& compiled_;
  Owned<InferRequest> request_{nullptr, nullptr};
  exec::BoundOutputs bound_;
  double seconds_ = 0;
};

class FileSession final : public exec::Session {
 public:
  // `inputs` are names that inputs should have, as far as the library knows them by these.
  FileSession(const Library& library, Owned<CompiledModel> compiled, const std::vector<std::string>& inputs)
      : library_(library), compiled_(std::move(compiled)) {
    const Api& api = library_.api();
    signature_.inputs =
        file_ports(library_, *compiled_, api.ov_compiled_model_inputs_size, api.ov_compiled_model_input_by_index);
    signature_.outputs =
        file_ports(library_, *compiled_, api.ov_compiled_model_outputs_size, api.ov_compiled_model_output_by_index);
    for (const std::string& name : inputs) {
      const std::string told = told_name(library_, *compiled_, name, api.ov_compiled_model_input_by_name);
      const auto port = std::ranges::find(signature_.inputs, told, &exec::Port::name);
      if (port != signature_.inputs.end()) port->name = name;
    }
  }

  const exec::Signature& signature() const override { return signature_; }
  std::unique_ptr<exec::Execution> make_execution(const exec::ExecutionOptions&) const override {
    const SignalGuard signal_guard;
    return std::make_unique<FileExecution>(library_, signature_, *compiled_);
  }

 private:
  const Library& library_;
  Owned<CompiledModel> compiled_;
  exec::Signature signature_;
};

}  // namespace

std::unique_ptr<exec::Session> make_file_session(const Library& library, const std::filesystem::path& path,
                                                 const exec::SessionOptions& options) {
  const SignalGuard signal_guard;
  const FloatModeGuard float_guard;
  const ForeignCode code(kFileName);
  return std::make_unique<FileSession>(library, compile_file(library, path, options),
                                       options.settings.list("graph-inputs"));
}

}  // namespace assay::backends::ov
