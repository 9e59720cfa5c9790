#include "backends/openvino/ov_parameters.h"

#include <algorithm>

#include "base/text.h"

namespace assay::backends::ov {
namespace {

std::string parameter_name(const Library& library, const CompiledModel& compiled, size_t index) {
  const Api& api = library.api();
  Port* made = nullptr;
  library.check(api.ov_compiled_model_input_by_index(&compiled, index, &made));
  const Owned<Port> port(made, api.ov_output_const_port_free);
  char* text = nullptr;
  library.check(api.ov_port_get_any_name(port.get(), &text));
  std::string name = text;
  api.ov_free(text);
  return name;
}

}  // namespace

Parameters::Parameters(const Library& library, const ir::Model& model, const CompiledModel& compiled) {
  for (const ir::ValueId id : model[model.main_graph()].inputs) {
    if (!model[id].constant) inputs_.emplace_back(model.text(model[id].name));
  }
  size_t count = 0;
  library.check(library.api().ov_compiled_model_inputs_size(&compiled, &count));
  if (count == inputs_.size()) {
    names_ = inputs_;  // in order; a parameter that goes straight to an output has the output's name
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    const std::string& name = names_.emplace_back(parameter_name(library, compiled, i));
    if (std::ranges::find(inputs_, name) != inputs_.end()) continue;
    fail(ErrorCode::unsupported, "openvino: OpenVINO's parameter `{}` is no input of the model", printable(name));
  }
}

std::optional<size_t> Parameters::find(const exec::Feed& feed) const {
  if (std::ranges::find(inputs_, feed.name) == inputs_.end()) {
    fail(ErrorCode::unsupported, "openvino: input `{}` has a default, which OpenVINO takes as a constant",
         printable(feed.name));
  }
  const auto found = std::ranges::find(names_, feed.name);
  if (found == names_.end()) return std::nullopt;
  if (!feed.value.is_tensor()) {
    fail(ErrorCode::unsupported, "openvino: input `{}` is no tensor, and OpenVINO has nothing else",
         printable(feed.name));
  }
  return static_cast<size_t>(found - names_.begin());
}

}  // namespace assay::backends::ov
