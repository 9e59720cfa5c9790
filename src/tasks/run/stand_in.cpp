#include "tasks/run/stand_in.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/edit.h"

namespace assay::tasks {
namespace {

ir::TypeId stand_in_type(ir::Model& model, ir::Edit& edit, const exec::Port& port, size_t number) {
  if (!port.type || port.type->kind != ir::TypeKind::tensor) return {};
  if (!port.type->ranked) return model.types().unranked_tensor(port.type->dtype);
  std::vector<ir::DimId> dims;
  for (const exec::PortDim& dim : port.type->dims) {
    dims.push_back(dim.size ? model.dims().constant(*dim.size)
                            : model.dims().symbol(edit.intern(fmt::format("dim_{}_{}", number, dims.size()))));
  }
  return model.types().tensor(port.type->dtype, std::move(dims));
}

// Damaged files have such ports.
void refuse_without_names(const std::vector<exec::Port>& ports, std::string_view what) {
  if (std::ranges::any_of(ports, [](const exec::Port& port) { return port.name.empty(); }))
    fail(ErrorCode::parse, "the model has an {} without a name", what);
}

}  // namespace

ir::Model stand_in_model(const exec::Signature& signature) {
  refuse_without_names(signature.inputs, "input");
  refuse_without_names(signature.outputs, "output");
  constexpr int64_t kIrVersion = 8;
  ir::Model model;
  ir::Edit edit(model);
  edit.header().ir_version = kIrVersion;
  if (model.graph_slots() == 0) edit.add_graph(edit.intern("network"));
  const ir::GraphId graph = model.main_graph();
  size_t number = 0;
  std::vector<ir::ValueId> inputs;
  for (const exec::Port& port : signature.inputs) {
    inputs.push_back(edit.add_input(graph, edit.intern(port.name), stand_in_type(model, edit, port, number++)));
  }
  std::vector<ir::Symbol> results;
  for (const exec::Port& port : signature.outputs) results.push_back(edit.intern(port.name));
  const ir::NodeId node = edit.add_node(
      graph, {.op = edit.intern("Network"), .domain = edit.intern("network"), .operands = inputs, .results = results});
  const std::vector<ir::ValueId> outputs(model[node].results.begin(), model[node].results.end());
  for (size_t i = 0; i < outputs.size(); ++i) {
    edit.set_type(outputs[i], stand_in_type(model, edit, signature.outputs[i], number++));
  }
  edit.set_outputs(graph, outputs);
  return model;
}

}  // namespace assay::tasks
