#include "convert.h"
#include "graph_builder.h"
#include "library/content.h"

namespace assay::python {
namespace {

// A model as lists and tuples, which assay.graphsurgeon makes its objects of. Values go by their ids.
class GraphReader {
 public:
  explicit GraphReader(const ir::Model& model) : model_(model) {}

  nb::dict read() {
    nb::dict found;
    const ir::Header& header = model_.header();
    found["ir_version"] = header.ir_version;
    found["imports"] = imports(header.opset_imports);
    found["producer_name"] = header.producer_name;
    found["producer_version"] = header.producer_version;
    found["domain"] = header.domain;
    found["model_version"] = header.model_version;
    found["doc"] = header.doc;
    found["metadata"] = header.metadata;
    found["graph"] = graph(model_.main_graph());
    nb::list functions;
    for (const ir::Function& each : model_.functions()) functions.append(function(each));
    found["functions"] = functions;
    found["values"] = values_;
    return found;
  }

 private:
  nb::str text(ir::Symbol symbol) const { return text(model_.text(symbol)); }
  static nb::str text(std::string_view text) {
    PyObject* const decoded =
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
    return nb::steal<nb::str>(decoded);
  }

  nb::list imports(const std::vector<ir::OpsetImport>& all) const {
    nb::list found;
    for (const ir::OpsetImport& each : all) found.append(nb::make_tuple(text(each.domain), each.version));
    return found;
  }

  nb::tuple graph(ir::GraphId id) {
    const ir::Graph& graph = model_[id];
    nb::list inputs;
    for (const ir::ValueId each : graph.inputs) inputs.append(value(each));
    nb::list outputs;
    for (const ir::Use& use : model_.outputs(id)) outputs.append(value(use.value));
    nb::list initializers;
    for (const ir::ValueId each : graph.initializers) initializers.append(value(each));
    nb::list nodes;
    for (const ir::NodeId each : ir::nodes(model_, id)) nodes.append(node(model_[each]));
    return nb::make_tuple(text(graph.name), text(graph.doc), inputs, outputs, initializers, nodes);
  }

  // -1: left out.
  int64_t value(ir::ValueId id) {
    if (!id.valid()) return -1;
    const nb::int_ key(id.index);
    if (values_.contains(key)) return id.index;
    const ir::Value& value = model_[id];
    nb::object array = nb::none();
    if (value.constant.valid()) array = constant(value.constant);
    values_[key] = nb::make_tuple(text(value.name), type(value.type), array);
    return id.index;
  }

  static tensor::Tensor dense(const ir::TensorEntry& entry) { return entry.tensor; }

  nb::object constant(ir::TensorId id) const {
    const ir::TensorEntry& entry = model_[id];
    if (!entry.sparse) return nb::cast(Array{dense(entry), false});
    return nb::make_tuple(Array{entry.sparse->values, false}, Array{entry.sparse->indices, false}, entry.sparse->dims);
  }

  // (kind, element type, dims); of a sequence or an optional: those of its elements.
  nb::object type(ir::TypeId id) const {
    if (!id.valid()) return nb::none();
    const ir::Type& found = model_[id];
    if (found.element.valid() && found.kind != ir::TypeKind::map) {
      const nb::object inner = type(found.element);
      return nb::make_tuple(static_cast<int>(found.kind), inner[1], inner[2]);
    }
    nb::object shape = nb::none();
    if (found.ranked) {
      nb::list dims;
      for (const ir::DimId each : found.dims) dims.append(dim(each));
      shape = dims;
    }
    return nb::make_tuple(static_cast<int>(found.kind), static_cast<int>(found.dtype), shape);
  }

  nb::object dim(ir::DimId id) const {
    if (const std::optional<int64_t> number = model_.dims().as_constant(id)) return nb::int_(*number);
    if (id == ir::kUnknownDim) return nb::none();
    return nb::str(model_.dims().text(id, model_.symbols()).c_str());
  }

  nb::tuple node(const ir::Node& node) {
    nb::list inputs;
    for (const ir::Use& use : node.operands) inputs.append(value(use.value));
    nb::list outputs;
    for (const ir::ValueId each : node.results) outputs.append(value(each));
    return nb::make_tuple(text(node.op), text(node.domain), text(node.name), inputs, outputs,
                          attributes(node.attributes), text(node.overload));
  }

  nb::list attributes(std::span<const ir::Attribute> all) {
    nb::list found;
    for (const ir::Attribute& each : all) {
      const int type = static_cast<int>(each.type());
      if (each.is_reference())
        found.append(nb::make_tuple(text(each.name()), -type, text(each.reference_target())));
      else
        found.append(nb::make_tuple(text(each.name()), type, content(each)));
    }
    return found;
  }

  template <typename Items, typename Fn>
  static nb::list list_of(const Items& items, Fn make) {
    nb::list found;
    for (const auto& item : items) found.append(make(item));
    return found;
  }

  // None: of a type that has no form here.
  nb::object content(const ir::Attribute& attribute) {
    using enum ir::AttributeType;
    switch (attribute.type()) {
      case floating:
        return nb::float_(attribute.floating());
      case integer:
        return nb::int_(attribute.integer());
      case string:
        return text(attribute.string());
      case tensor:
        return constant(attribute.tensors().front());
      case graph:
        return this->graph(attribute.graphs().front());
      case floats:
        return list_of(attribute.floats(), [](float each) { return nb::float_(each); });
      case integers:
        return list_of(attribute.integers(), [](int64_t each) { return nb::int_(each); });
      case strings:
        return list_of(attribute.strings(), [&](ir::Symbol each) { return text(each); });
      case tensors:
        return list_of(attribute.tensors(), [&](ir::TensorId each) { return constant(each); });
      case graphs:
        return list_of(attribute.graphs(), [&](ir::GraphId each) { return this->graph(each); });
      default:
        return nb::none();
    }
  }

  nb::dict function(const ir::Function& function) {
    nb::dict found;
    found["domain"] = text(function.domain);
    found["name"] = text(function.name);
    found["overload"] = text(function.overload);
    found["doc"] = text(function.doc);
    found["attribute_names"] = list_of(function.attribute_names, [&](ir::Symbol each) { return text(each); });
    found["attribute_defaults"] = attributes(function.attribute_defaults);
    found["imports"] = imports(function.opset_imports);
    found["graph"] = graph(function.body);
    return found;
  }

  const ir::Model& model_;
  nb::dict values_;
};

}  // namespace

void bind_graphs(nb::module_& module) {
  module.def("read_graph", [](const Model& model) { return GraphReader(model.content().model).read(); });
  bind_graph_builder(module);
}

}  // namespace assay::python
