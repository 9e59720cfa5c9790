#include "exec/signature.h"

#include <algorithm>

#include "exec/shape_inputs.h"

namespace assay::exec {
namespace {

PortType port_type(const ir::Model& model, ir::TypeId id) {
  const ir::Type& type = model[id];
  PortType port{.kind = type.kind, .dtype = type.dtype, .ranked = type.ranked, .dims = {}, .element = {}};
  for (const ir::DimId dim : type.dims) {
    port.dims.push_back({model.dims().as_constant(dim), model.dims().text(dim, model.symbols())});
  }
  if (type.kind == ir::TypeKind::optional && type.element.valid()) port.element = {port_type(model, type.element)};
  return port;
}

Port port_of(const ir::Model& model, ir::ValueId id) {
  const ir::Value& value = model[id];
  Port port{.name = std::string(model.text(value.name)), .type = {}};
  if (value.type.valid()) port.type = port_type(model, value.type);
  return port;
}

}  // namespace

Signature signature_of(const ir::Model& model) {
  Signature signature;
  const std::vector<ir::ValueId> shapes = shape_inputs(model);
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    Port port = port_of(model, input);
    port.has_default = model[input].constant.valid();
    port.is_shape = std::ranges::find(shapes, input) != shapes.end();
    signature.inputs.push_back(std::move(port));
  }
  for (const ir::Use& use : model.outputs(model.main_graph())) {
    if (use.value.valid()) signature.outputs.push_back(port_of(model, use.value));
  }
  return signature;
}

const Port* find_port(const std::vector<Port>& ports, std::string_view name) {
  const auto found = std::ranges::find(ports, name, &Port::name);
  return found == ports.end() ? nullptr : &*found;
}

}  // namespace assay::exec
