#include "graph_builder.h"

#include <utility>

#include "base/error.h"
#include "convert.h"
#include "ir/constants.h"
#include "ir/edit.h"
#include "ir/verify.h"
#include "library/content.h"
#include "onnx/known_operators.h"

namespace assay::python {
namespace {

// Makes a model as assay.graphsurgeon tells it. Weights are shared, not copied.
class GraphBuilder {
 public:
  // One call at a time: what Python runs to give an array may not change what the call has looked up.
  class Use {
   public:
    explicit Use(GraphBuilder& builder) : is_busy_(builder.is_busy_) {
      if (is_busy_) fail(ErrorCode::usage, "the graph is being written");
      is_busy_ = true;
    }
    ~Use() { is_busy_ = false; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    bool& is_busy_;
  };

  explicit GraphBuilder(const nb::dict& header) {
    ir::Header& made = edit_.header();
    made.ir_version = nb::cast<int64_t>(header["ir_version"]);
    made.opset_imports = imports(nb::cast<nb::list>(header["imports"]));
    made.producer_name = nb::cast<std::string>(header["producer_name"]);
    made.producer_version = nb::cast<std::string>(header["producer_version"]);
    made.domain = nb::cast<std::string>(header["domain"]);
    made.model_version = nb::cast<int64_t>(header["model_version"]);
    made.doc = nb::cast<std::string>(header["doc"]);
    made.metadata = nb::cast<std::vector<std::pair<std::string, std::string>>>(header["metadata"]);
  }

  uint32_t add_graph(nb::str name, nb::str doc) {
    const ir::GraphId graph = edit_.add_graph(symbol(name));
    edit_.graph(graph).doc = text(doc);
    return graph.index;
  }
  uint32_t add_input(uint32_t graph, nb::str name) { return edit_.add_input(graph_id(graph), symbol(name)).index; }
  uint32_t add_initializer(uint32_t graph, nb::str name, nb::handle array) {
    const ir::Symbol symbol_of_name = symbol(name);
    return edit_.add_initializer(graph_id(graph), symbol_of_name, tensor_of(array, model_.text(symbol_of_name))).index;
  }
  uint32_t add_undefined(uint32_t graph, nb::str name) {
    return edit_.add_undefined(graph_id(graph), symbol(name)).index;
  }

  void set_type(uint32_t value, int kind, int dtype, const nb::object& dims) {
    const auto element = static_cast<tensor::DType>(dtype);
    ir::TypeId type = model_.types().unranked_tensor(element);
    if (!dims.is_none()) type = model_.types().tensor(element, dims_of(dims));
    if (kind == static_cast<int>(ir::TypeKind::sequence) || kind == static_cast<int>(ir::TypeKind::optional)) {
      type = model_.types().intern({.kind = static_cast<ir::TypeKind>(kind), .element = type});
    } else if (kind == static_cast<int>(ir::TypeKind::sparse_tensor)) {
      ir::Type sparse = model_.types()[type];
      sparse.kind = ir::TypeKind::sparse_tensor;
      type = model_.types().intern(std::move(sparse));
    }
    edit_.set_type(value_id(value), type);
  }

  // The node's number, and those of its results, -1 for those left out. Operands follow later.
  nb::tuple add_node(uint32_t graph, const nb::tuple& words, const std::vector<std::string>& results) {
    std::vector<ir::Symbol> names;
    for (const std::string& name : results) names.push_back(edit_.intern(name));
    const ir::NodeId node = edit_.add_node(graph_id(graph), {.op = symbol(nb::borrow<nb::str>(words[0])),
                                                             .domain = symbol(nb::borrow<nb::str>(words[1])),
                                                             .name = edit_.keep(text(nb::borrow<nb::str>(words[2]))),
                                                             .results = names});
    nb::list ids;
    for (const ir::ValueId value : model_[node].results) ids.append(value.valid() ? int64_t{value.index} : -1);
    return nb::make_tuple(node.index, ids);
  }

  void set_operands(uint32_t node, const std::vector<int64_t>& operands) {
    edit_.set_operands(node_id(node), values_of(operands));
  }
  void set_outputs(uint32_t graph, const std::vector<int64_t>& outputs) {
    edit_.set_outputs(graph_id(graph), values_of(outputs));
  }
  void set_attributes(uint32_t node, const nb::list& given) { edit_.set_attributes(node_id(node), attributes(given)); }

  void add_function(const nb::dict& given, uint32_t graph) {
    ir::Function function;
    function.domain = symbol(nb::cast<nb::str>(given["domain"]));
    function.name = symbol(nb::cast<nb::str>(given["name"]));
    function.doc = nb::cast<std::string>(given["doc"]);
    function.body = graph_id(graph);
    for (const auto& name : nb::cast<std::vector<std::string>>(given["attribute_names"])) {
      function.attribute_names.push_back(edit_.intern(name));
    }
    function.attribute_defaults = attributes(nb::cast<nb::list>(given["attribute_defaults"]));
    function.opset_imports = imports(nb::cast<nb::list>(given["imports"]));
    edit_.add_function(std::move(function));
  }

  Model finish(const std::string& name) {
    graph_id(0);
    Diagnostics findings;
    ir::verify(model_, findings);
    onnx::check_operators(model_, findings);
    ir::Model made = std::exchange(model_, ir::Model());
    return library::make_model(std::move(made), name, findings.all());
  }

 private:
  static std::string text(const nb::str& given) {
    const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(given.ptr(), "utf-8", "surrogateescape"));
    if (!bytes.is_valid()) throw nb::python_error();
    return {nb::borrow<nb::bytes>(bytes).c_str(), nb::borrow<nb::bytes>(bytes).size()};
  }
  ir::Symbol symbol(const nb::str& given) { return edit_.intern(text(given)); }

  std::vector<ir::OpsetImport> imports(const nb::list& given) {
    std::vector<ir::OpsetImport> made;
    for (const nb::handle each : given)
      made.push_back({symbol(nb::borrow<nb::str>(each[0])), nb::cast<int64_t>(each[1])});
    return made;
  }

  // Numbers that were not given out are refused.
  template <typename IdType>
  static IdType checked(int64_t number, uint32_t count) {
    if (number < 0 || number >= count) fail(ErrorCode::usage, "there is nothing of the number {}", number);
    return IdType{static_cast<uint32_t>(number)};
  }
  ir::GraphId graph_id(int64_t number) const { return checked<ir::GraphId>(number, model_.graph_slots()); }
  ir::NodeId node_id(int64_t number) const { return checked<ir::NodeId>(number, model_.node_slots()); }
  ir::ValueId value_id(int64_t number) const { return checked<ir::ValueId>(number, model_.value_slots()); }

  std::vector<ir::ValueId> values_of(const std::vector<int64_t>& ids) const {
    std::vector<ir::ValueId> values;
    for (const int64_t id : ids) values.push_back(id < 0 ? ir::ValueId{} : value_id(id));
    return values;
  }

  std::vector<ir::DimId> dims_of(const nb::object& given) {
    std::vector<ir::DimId> dims;
    for (const nb::handle dim : given) {
      if (dim.is_none() || (nb::isinstance<nb::int_>(dim) && nb::cast<int64_t>(dim) < 0))
        dims.push_back(ir::kUnknownDim);
      else if (nb::isinstance<nb::str>(dim))
        dims.push_back(model_.dims().symbol(symbol(nb::borrow<nb::str>(dim))));
      else
        dims.push_back(model_.dims().constant(nb::cast<int64_t>(dim)));
    }
    return dims;
  }

  ir::TensorId tensor_of(nb::handle array, std::string_view name) {
    ir::TensorEntry entry;
    entry.name = name;
    if (nb::isinstance<nb::tuple>(array)) {
      auto sparse = std::make_shared<ir::SparseTensor>();
      sparse->values = to_tensor(array[0]);
      sparse->indices = to_tensor(array[1]);
      sparse->dims = nb::cast<std::vector<int64_t>>(array[2]);
      entry.sparse = std::move(sparse);
    } else {
      entry.tensor = to_tensor(array);
    }
    return edit_.add_tensor(std::move(entry));
  }

  std::vector<ir::Attribute> attributes(const nb::list& given) {
    std::vector<ir::Attribute> made;
    for (const nb::handle each : given) {
      const ir::Symbol name = symbol(nb::borrow<nb::str>(each[0]));
      const int type = nb::cast<int>(each[1]);
      if (type < 0) {
        const ir::Symbol target = symbol(nb::borrow<nb::str>(each[2]));
        made.push_back(ir::Attribute::reference(name, static_cast<ir::AttributeType>(-type), target));
      } else {
        made.push_back(attribute(name, static_cast<ir::AttributeType>(type), each[2]));
      }
    }
    return made;
  }

  template <typename T>
  std::span<const T> kept(const std::vector<T>& items) {
    return model_.arena().copy(std::span<const T>(items));
  }

  ir::Attribute attribute(ir::Symbol name, ir::AttributeType kind, nb::handle value) {
    using enum ir::AttributeType;
    using ir::Attribute;
    switch (kind) {
      case floating:
        return Attribute::of(name, nb::cast<float>(value));
      case integer:
        return Attribute::of(name, nb::cast<int64_t>(value));
      case string:
        return Attribute::of(name, kind, symbol(nb::borrow<nb::str>(value)));
      case tensor:
        return Attribute::of(name, kind, tensor_of(value, {}));
      case graph:
        return Attribute::of(name, kind, graph_id(nb::cast<int64_t>(value)));
      case floats:
        return Attribute::list(name, kind, kept(nb::cast<std::vector<float>>(value)));
      case integers:
        return Attribute::list(name, kind, kept(nb::cast<std::vector<int64_t>>(value)));
      default:
        return list_attribute(name, kind, value);
    }
  }

  ir::Attribute list_attribute(ir::Symbol name, ir::AttributeType type, nb::handle value) {
    std::vector<ir::Symbol> words;
    std::vector<ir::TensorId> tensors;
    for (const nb::handle item : value) {
      if (type == ir::AttributeType::strings)
        words.push_back(symbol(nb::borrow<nb::str>(item)));
      else
        tensors.push_back(tensor_of(item, {}));
    }
    if (type == ir::AttributeType::strings) return ir::Attribute::list(name, type, kept(words));
    return ir::Attribute::list(name, type, kept(tensors));
  }

  ir::Model model_;
  ir::Edit edit_{model_};
  bool is_busy_ = false;
};

template <typename Result, typename... Arguments>
auto used(Result (GraphBuilder::*method)(Arguments...)) {
  return [method](GraphBuilder& self, Arguments... arguments) -> Result {
    const GraphBuilder::Use use(self);
    return (self.*method)(std::forward<Arguments>(arguments)...);
  };
}

}  // namespace

void bind_graph_builder(nb::module_& module) {
  nb::class_<GraphBuilder>(module, "GraphBuilder")
      .def(nb::init<const nb::dict&>())
      .def("add_graph", used(&GraphBuilder::add_graph))
      .def("add_input", used(&GraphBuilder::add_input))
      .def("add_initializer", used(&GraphBuilder::add_initializer))
      .def("add_undefined", used(&GraphBuilder::add_undefined))
      .def("set_type", used(&GraphBuilder::set_type), nb::arg("value"), nb::arg("kind"), nb::arg("dtype"),
           nb::arg("dims").none())
      .def("add_node", used(&GraphBuilder::add_node))
      .def("set_operands", used(&GraphBuilder::set_operands))
      .def("set_outputs", used(&GraphBuilder::set_outputs))
      .def("set_attributes", used(&GraphBuilder::set_attributes))
      .def("add_function", used(&GraphBuilder::add_function))
      .def("finish", used(&GraphBuilder::finish));
}

}  // namespace assay::python
