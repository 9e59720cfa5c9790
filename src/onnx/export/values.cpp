#include "onnx/export/graph.h"
#include "onnx/export/source_fields.h"
#include "onnx/fields.h"

namespace assay::onnx {

using ir::NodeId;
using ir::Symbol;
using ir::ValueId;

// One ValueInfoProto: of what the source says, only a name or type that was edited is replaced.
void GraphExporter::value_field(Rope& rope, uint32_t number, const Field* source, ValueId id) {
  const ir::TypeId type = id ? model_[id].type : ir::TypeId{};
  if (!source) return tensors_.value_info(rope, number, name_of(id), type);
  const bool is_new = id && model_[id].source_name == ir::kEmpty && type;
  const bool new_type = is_new || (id && model_[id].dirty);
  const Message message{source->payload, source->whole.data()};
  Rope content;
  kept_text(content, &message, field::value_info::name, name_of(id));
  if (new_type && type) content.message_field(field::value_info::type, tensors_.type(type));
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    const bool is_replaced =
        field.number == field::value_info::name || (field.number == field::value_info::type && new_type);
    if (!is_replaced) content.borrow(field.whole);
  }
  rope.message_field(number, std::move(content));
}

void GraphExporter::graph_values(Rope& rope, const Body& body, uint32_t number, std::span<const ValueId> values) {
  const std::optional<Message> source = source_of(body);
  const SourceFields known = source ? SourceFields(*source, number, name_key) : SourceFields();
  for (size_t i = 0; i < values.size(); ++i) {
    const Field* old = known.find(i, model_.text(source_name(values[i])));
    const bool is_kept =
        old && (!values[i] || (source_name(values[i]) == model_[values[i]].name &&
                               model_[values[i]].source_name != ir::kEmpty && !model_[values[i]].dirty));
    is_kept ? rope.borrow(old->whole) : value_field(rope, number, old, values[i]);
  }
}

// Enters the graph's values under the names that the source has for them; new values under names that are free.
void GraphExporter::collect_described(const Body& body) {
  std::vector<ValueId> new_values;
  const auto enter = [&](ValueId id) {
    model_[id].source_name != ir::kEmpty ? enter_described(id) : new_values.push_back(id);
  };
  for (const ValueId id : model_[body.id].inputs) enter(id);
  for (const ValueId id : model_[body.id].initializers) enter(id);
  for (const NodeId node : ir::nodes(model_, body.id)) {
    for (const ValueId id : model_[node].results) {
      if (!id) continue;
      enter(id);
      const bool is_new = model_[id].dirty || unclean_nodes_[node.index];
      if (is_new && model_[id].type) new_described_.push_back(id);
    }
  }
  for (const ValueId id : new_values) enter_described(id);
}

void GraphExporter::enter_described(ValueId id) {
  ValueId& slot = by_symbol_[source_name(id).index];
  if (slot) return;
  slot = id;
  described_.push_back(source_name(id));
}

void GraphExporter::write_value_infos(Rope& rope, const Body& body) {
  const uint32_t number = body.function ? +field::function::value_info : +field::graph::value_info;
  collect_described(body);
  write_described_values(rope, body, number);
  for (const ir::Use& use : model_.outputs(body.id)) {
    if (!use.value) continue;
    ValueId& described = by_symbol_[source_name(use.value).index];
    if (described == use.value) described = ValueId{};
  }
  for (const ValueId id : new_described_) {
    if (by_symbol_[source_name(id).index] != id) continue;
    tensors_.value_info(rope, number, name_of(id), model_[id].type);
  }
  for (const Symbol name : described_) by_symbol_[name.index] = ValueId{};
  described_.clear();
  new_described_.clear();
}

// The value_infos of the source that still hold, in their order; each described value is taken off by_symbol_.
void GraphExporter::write_described_values(Rope& rope, const Body& body, uint32_t number) {
  const std::optional<Message> source = source_of(body);
  if (!source) return;
  FieldReader reader(*source);
  for (Field field; reader.next(field);) {
    if (field.number != number) continue;
    const Symbol name = model_.symbols().find(name_key(child(*source, field)));
    ValueId value;
    if (name) std::swap(value, by_symbol_[name.index]);
    const bool is_changed = value && (model_[value].dirty || model_[value].name != model_[value].source_name);
    const bool forgotten = name && model_.forgotten_names().contains({body.id, name});
    if (is_changed) {
      value_field(rope, number, &field, value);
    } else if (value || !forgotten) {
      rope.borrow(field.whole);
    }
  }
}

}  // namespace assay::onnx
