#include "ir/excerpt.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "ir/edit.h"
#include "ir/walk.h"

namespace assay::ir {
namespace {

class Excerpter {
 public:
  Excerpter(const Model& source, const Excerpt& excerpt) : source_(source), excerpt_(excerpt), edit_(model_) {}

  Model run() {
    edit_.add_graph();
    copy_header();
    for (const ValueId input : excerpt_.inputs) {
      values_[input] = edit_.add_input(model_.main_graph(), text(source_[input].name), type_of(source_[input].type));
    }
    for (const NodeId node : excerpt_.nodes) copy_node(node, model_.main_graph());
    copy_bodies();
    std::vector<ValueId> outputs;
    for (const ValueId output : excerpt_.outputs) outputs.push_back(value_of(output));
    edit_.set_outputs(model_.main_graph(), outputs);
    return std::move(model_);
  }

 private:
  struct Body {
    GraphId from;
    GraphId to;
  };

  Symbol text(Symbol symbol) { return edit_.intern(source_.text(symbol)); }

  std::vector<OpsetImport> copied(std::vector<OpsetImport> imports) {
    for (OpsetImport& import : imports) import.domain = text(import.domain);
    return imports;
  }

  void copy_header() {
    edit_.header().ir_version = source_.header().ir_version;
    edit_.header().opset_imports = copied(source_.header().opset_imports);
  }

  DimId dim_of(DimId dim) {
    const AffineDim& expression = source_.dims().expression(dim);
    if (dim == kUnknownDim) return kUnknownDim;
    DimId sum = model_.dims().constant(expression.constant);
    for (const auto& [symbol, factor] : expression.terms) {
      sum = model_.dims().add(sum, model_.dims().scale(model_.dims().symbol(text(symbol)), factor));
    }
    return sum;
  }

  TypeId type_of(TypeId id, bool has_dims = true) {
    if (!id.valid()) return {};
    Type type = source_[id];
    type.ranked = type.ranked && has_dims;
    if (!type.ranked) type.dims.clear();
    for (DimId& dim : type.dims) dim = dim_of(dim);
    type.element = type_of(type.element, has_dims);
    for (Symbol* symbol : {&type.domain, &type.name, &type.denotation}) *symbol = text(*symbol);
    return model_.types().intern(std::move(type));
  }

  TensorId tensor_of(const tensor::Tensor& tensor, const std::shared_ptr<const SparseTensor>& sparse = nullptr) {
    TensorEntry entry;
    entry.tensor = tensor;
    entry.sparse = sparse;
    return edit_.add_tensor(std::move(entry));
  }

  // Initializers come along with what uses them.
  ValueId value_of(ValueId value) {
    if (!value.valid()) return {};
    if (const auto known = values_.find(value); known != values_.end()) return known->second;
    const Value& facts = source_[value];
    const auto constant = excerpt_.constants.find(value);
    const TensorEntry* const entry = facts.constant.valid() ? &source_[facts.constant] : nullptr;
    const TensorId tensor =
        constant != excerpt_.constants.end() ? tensor_of(constant->second) : tensor_of(entry->tensor, entry->sparse);
    return values_[value] = edit_.add_initializer(model_.main_graph(), text(facts.name), tensor);
  }

  void copy_node(NodeId id, GraphId target) {
    const Node& node = source_[id];
    std::vector<ValueId> operands;
    for (const Use& use : node.operands) operands.push_back(value_of(use.value));
    std::vector<Symbol> results;
    for (const ValueId value : node.results) results.push_back(value.valid() ? text(source_[value].name) : kEmpty);
    std::vector<Attribute> attributes;
    for (const Attribute& attribute : node.attributes) attributes.push_back(copied(attribute));
    NodeSpec spec{.op = text(node.op), .domain = text(node.domain), .overload = text(node.overload)};
    if (!node.name.empty()) spec.name = edit_.keep(node.name);
    spec.operands = operands;
    spec.results = results;
    spec.attributes = attributes;
    const NodeId made = edit_.add_node(target, spec);
    for (size_t i = 0; i < node.results.size(); ++i) {
      if (!node.results[i].valid()) continue;
      values_[node.results[i]] = model_[made].results[i];
      edit_.set_type(model_[made].results[i], type_of(source_[node.results[i]].type, false));
    }
    call_later(node);
  }

  // The body of a function that is called.
  void call_later(const Node& node) {
    for (const Function& function : source_.functions()) {
      const bool is_it =
          function.name == node.op && function.domain == node.domain && function.overload == node.overload;
      if (!is_it || !functions_.insert(function.body).second) continue;
      Function made{.domain = text(function.domain), .name = text(function.name), .overload = text(function.overload)};
      made.body = edit_.add_graph();
      for (const Symbol name : function.attribute_names) made.attribute_names.push_back(text(name));
      for (const Attribute& value : function.attribute_defaults) made.attribute_defaults.push_back(copied(value));
      made.opset_imports = copied(function.opset_imports);
      pending_.push_back({function.body, made.body});
      edit_.add_function(std::move(made));
    }
  }

  template <typename T, typename Fn>
  std::span<const T> list(std::span<const T> items, Fn&& copy) {
    std::vector<T> made;
    for (const T& item : items) made.push_back(copy(item));
    return model_.arena().copy<T>(made);
  }

  template <typename T, typename Fn>
  Attribute copied_ids(const Attribute& attribute, std::span<const T> items, bool is_list, Fn&& copy) {
    const Symbol name = text(attribute.name());
    if (is_list || items.empty()) return Attribute::list(name, attribute.type(), list(items, copy));
    return Attribute::of(name, attribute.type(), copy(items.front()));
  }

  Attribute copied(const Attribute& attribute) {
    using Kind = AttributeType;
    const Symbol name = text(attribute.name());
    const Kind type = attribute.type();
    if (attribute.is_reference()) return Attribute::reference(name, type, text(attribute.reference_target()));
    const auto same = [](auto item) { return item; };
    if (type == Kind::floating) return Attribute::of(name, attribute.floating());
    if (type == Kind::integer) return Attribute::of(name, attribute.integer());
    if (type == Kind::floats) return Attribute::list(name, type, list(attribute.floats(), same));
    if (type == Kind::integers) return Attribute::list(name, type, list(attribute.integers(), same));
    if (type == Kind::string || type == Kind::strings)
      return copied_ids(attribute, attribute.strings(), type == Kind::strings, [&](Symbol item) { return text(item); });
    if (attribute.holds_tensors()) {
      return copied_ids(attribute, attribute.tensors(), type == Kind::tensors || type == Kind::sparse_tensors,
                        [&](TensorId id) { return tensor_of(source_[id].tensor, source_[id].sparse); });
    }
    if (type == Kind::graph || type == Kind::graphs) {
      return copied_ids(attribute, attribute.graphs(), type == Kind::graphs,
                        [&](GraphId body) { return body_later(body); });
    }
    return copied_ids(attribute, attribute.types(), type == Kind::types, [&](TypeId id) { return type_of(id); });
  }

  GraphId body_later(GraphId body) {
    pending_.push_back({body, edit_.add_graph(text(source_[body].name))});
    return pending_.back().to;
  }

  // Copies bodies. Values around a body are copied before it.
  void copy_bodies() {
    while (!pending_.empty()) {
      const Body body = pending_.back();
      pending_.pop_back();
      for (const ValueId input : source_[body.from].inputs) {
        values_[input] = edit_.add_input(body.to, text(source_[input].name), type_of(source_[input].type, false));
      }
      for (const NodeId node : nodes(source_, body.from)) copy_node(node, body.to);
      std::vector<ValueId> outputs;
      for (const Use& use : source_.outputs(body.from)) outputs.push_back(value_of(use.value));
      edit_.set_outputs(body.to, outputs);
    }
  }

  const Model& source_;
  const Excerpt& excerpt_;
  Model model_;
  Edit edit_;
  std::unordered_map<ValueId, ValueId> values_;
  std::set<GraphId> functions_;  // that were copied
  std::vector<Body> pending_;
};

}  // namespace

std::vector<ValueId> outer_values(const Model& model, const std::vector<NodeId>& nodes) {
  const GraphId graph = nodes.empty() ? GraphId{} : model[nodes.front()].graph;
  const std::set<NodeId> inside(nodes.begin(), nodes.end());
  std::set<ValueId> seen;
  std::vector<ValueId> found;
  const auto is_inside = [&](ValueId value) {
    const Value& facts = model[value];
    if (facts.graph == graph) return facts.producer.valid() && inside.contains(facts.producer);
    const NodeId around = facts.graph.valid() ? model[facts.graph].parent : NodeId{};
    const NodeId node = around.valid() ? model.ancestor_in(around, graph) : NodeId{};
    return node.valid() && inside.contains(node);
  };
  for (const NodeId node : nodes) {
    for_each_operand(model, node, [&](ValueId value) {
      const bool is_given = model[value].kind == ValueKind::initializer || is_inside(value);
      if (!is_given && seen.insert(value).second) found.push_back(value);
    });
  }
  return found;
}

Excerpt body_excerpt(const Model& model, GraphId body) {
  Excerpt excerpt;
  excerpt.inputs = model[body].inputs;
  for (const NodeId node : nodes(model, body)) excerpt.nodes.push_back(node);
  std::vector<ValueId> used = outer_values(model, excerpt.nodes);
  for (const Use& use : model.outputs(body)) {
    excerpt.outputs.push_back(use.value);
    if (use.value.valid() && model[use.value].kind != ValueKind::initializer) used.push_back(use.value);
  }
  for (const ValueId value : used) {
    const bool is_known = std::ranges::find(excerpt.inputs, value) != excerpt.inputs.end();
    if (model[value].graph != body && !is_known) excerpt.inputs.push_back(value);
  }
  return excerpt;
}

Model make_excerpt(const Model& model, const Excerpt& excerpt) { return Excerpter(model, excerpt).run(); }

}  // namespace assay::ir
