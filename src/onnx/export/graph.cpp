#include "onnx/export/graph.h"

#include <array>

#include "base/error.h"
#include "ir/walk.h"
#include "onnx/export/source_fields.h"
#include "onnx/fields.h"

namespace assay::onnx {

using ir::GraphId;
using ir::NodeId;
using ir::ValueId;

namespace {

constexpr int kMaxGraphDepth = (kMaxDepth - 1) / 3 + 1;  // graph, node and attribute are a level each

}  // namespace

GraphExporter::GraphExporter(const ir::Model& model, TensorExporter& tensors)
    : model_(model),
      tensors_(tensors),
      unclean_graphs_(model.graph_slots()),
      unclean_nodes_(model.node_slots()),
      by_symbol_(model.symbols().size()) {
  for (uint32_t i = 0; i < model.graph_slots(); ++i) {
    const ir::Graph& graph = model[GraphId{i}];
    bool unclean = graph.dirty || !graph.source.present;
    for (const ValueId id : graph.initializers) unclean |= !tensors.is_clean(model[model[id].constant], true);
    if (unclean) mark_unclean(GraphId{i});
  }
  find_unclean_nodes();
}

void GraphExporter::mark_unclean(GraphId graph) {
  while (graph && !unclean_graphs_[graph.index]) {
    unclean_graphs_[graph.index] = true;
    const NodeId parent = model_[graph].parent;
    if (parent) unclean_nodes_[parent.index] = true;
    graph = model_.enclosing(graph);
  }
}

void GraphExporter::find_unclean_nodes() {
  for (const NodeId id : ir::live_nodes(model_)) {
    const ir::Node& node = model_[id];
    if (!node.dirty && node.source.present && !has_unclean_tensor(node)) continue;
    unclean_nodes_[id.index] = true;
    mark_unclean(node.graph);
  }
}

bool GraphExporter::has_unclean_tensor(const ir::Node& node) const {
  for (const ir::Attribute& attribute : node.attributes) {
    if (!is_clean(attribute)) return true;
  }
  return false;
}

bool GraphExporter::is_clean(GraphId graph) const {
  return model_[graph].source.present ? !unclean_graphs_[graph.index] : false;
}

bool GraphExporter::is_clean(const ir::Function& function) const {
  if (function.dirty || !is_clean(function.body)) return false;
  for (const ir::Attribute& attribute : function.attribute_defaults) {
    if (!is_clean(attribute)) return false;
  }
  return true;
}

bool GraphExporter::is_clean(const ir::Attribute& attribute) const {
  if (attribute.dirty()) return false;
  for (const GraphId body : attribute.graphs()) {
    if (unclean_graphs_[body.index]) return false;
  }
  if (!attribute.holds_tensors()) return true;
  for (const ir::TensorId tensor : attribute.tensors()) {
    if (!tensors_.is_clean(model_[tensor], false)) return false;
  }
  return true;
}

std::optional<Message> GraphExporter::source_of(const Body& body) const {
  if (!body.source->present) return std::nullopt;
  return source_message(model_, *body.source);
}

ir::Symbol GraphExporter::source_name(ValueId id) const {
  if (!id) return ir::kEmpty;
  const ir::Value& value = model_[id];
  return value.source_name != ir::kEmpty ? value.source_name : value.name;
}

std::string_view GraphExporter::name_of(ValueId value) const {
  return value ? model_.text(model_[value].name) : std::string_view();
}

Rope GraphExporter::sections_in_order(const Body& body, std::span<const Section> sections) {
  Rope rope;
  std::vector<bool> written(sections.size());
  const auto write = [&](size_t i) {
    if (!written[i]) (this->*sections[i].write)(rope, body);
    written[i] = true;
  };
  const auto section_of = [&](uint32_t number) {
    size_t i = 0;
    while (i < sections.size() && sections[i].number != number && sections[i].second_number != number) ++i;
    return i;
  };
  if (const std::optional<Message> source = source_of(body)) {
    FieldReader reader(*source);
    for (Field field; reader.next(field);) {
      const size_t section = section_of(field.number);
      section < sections.size() ? write(section) : rope.borrow(field.whole);
    }
  }
  for (size_t i = 0; i < sections.size(); ++i) write(i);
  return rope;
}

Rope GraphExporter::graph(GraphId id) {
  using E = GraphExporter;
  static constexpr std::array<Section, 7> kSections = {{
      {field::graph::node, 0, &E::write_nodes},
      {field::graph::name, 0, &E::write_name},
      {field::graph::initializer, field::graph::sparse_initializer, &E::write_initializers},
      {field::graph::doc_string, 0, &E::write_doc},
      {field::graph::input, 0, &E::write_inputs},
      {field::graph::output, 0, &E::write_outputs},
      {field::graph::value_info, 0, &E::write_value_infos},
  }};
  if (++depth_ > kMaxGraphDepth) {
    fail(ErrorCode::unsupported, "bodies are nested more than {} deep, which no reader of ONNX accepts",
         kMaxGraphDepth);
  }
  Rope rope = sections_in_order({id, nullptr, &model_[id].source}, kSections);
  --depth_;
  return rope;
}

void GraphExporter::write_name(Rope& rope, const Body& body) {
  const std::optional<Message> source = source_of(body);
  const std::string_view name = model_.text(body.function ? body.function->name : model_[body.id].name);
  const uint32_t number = body.function ? +field::function::name : +field::graph::name;
  if (!source) return rope.text_field(number, name);
  kept_text(rope, &*source, number, name);
}

void GraphExporter::write_doc(Rope& rope, const Body& body) {
  const std::optional<Message> source = source_of(body);
  const std::string& doc = body.function ? body.function->doc : model_[body.id].doc;
  const uint32_t number = body.function ? +field::function::doc_string : +field::graph::doc_string;
  kept_text(rope, source ? &*source : nullptr, number, doc);
}

void GraphExporter::write_nodes(Rope& rope, const Body& body) {
  const uint32_t number = body.function ? +field::function::node : +field::graph::node;
  for (const NodeId id : ir::nodes(model_, body.id)) {
    const ir::Node& item = model_[id];
    if (unclean_nodes_[id.index]) {
      rope.message_field(number, node(id));
    } else {
      rope.borrow(model_.source()->bytes().subspan(item.source.offset, item.source.size));
    }
  }
}

void GraphExporter::write_initializers(Rope& rope, const Body& body) {
  for (const ValueId id : model_[body.id].initializers) {
    const ir::TensorEntry& entry = model_[model_[id].constant];
    if (tensors_.is_clean(entry, true)) {
      rope.borrow(model_.source()->bytes().subspan(entry.source.offset, entry.source.size));
    } else if (entry.sparse) {
      rope.message_field(field::graph::sparse_initializer, tensors_.sparse_tensor(entry, name_of(id)));
    } else {
      rope.message_field(field::graph::initializer, tensors_.tensor(entry, name_of(id), true));
    }
  }
}

void GraphExporter::write_inputs(Rope& rope, const Body& body) {
  graph_values(rope, body, field::graph::input, model_[body.id].inputs);
}

void GraphExporter::write_outputs(Rope& rope, const Body& body) {
  std::vector<ValueId> values;
  for (const ir::Use& use : model_.outputs(body.id)) values.push_back(use.value);
  graph_values(rope, body, field::graph::output, values);
}

}  // namespace assay::onnx
