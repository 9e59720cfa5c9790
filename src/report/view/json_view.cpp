#include "report/view/json_view.h"

#include "formats/json/field_writer.h"
#include "report/json_parts.h"
#include "results/fields/view.h"

namespace assay::report {
namespace {

void write_attribute(JsonWriter& json, const results::AttributeListing& attribute) {
  json.begin_object();
  json.field("name", attribute.name);
  json.field("type", attribute.type);
  const auto write = [&](const auto& value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::vector<const tensor::Tensor*>>) {
      json.begin_array();
      for (const tensor::Tensor* tensor : value) {
        std::string text(tensor::name(tensor->dtype()));
        for (const int64_t dim : tensor->shape()) text += " " + std::to_string(dim);
        json.value(text);
      }
      json.end_array();
    } else if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<double>> ||
                         std::is_same_v<T, std::vector<std::string>>) {
      json.begin_array();
      for (const auto& item : value) json.value(item);
      json.end_array();
    } else if constexpr (std::is_same_v<T, std::monostate>) {
      json.value(attribute.reference.empty() ? "a graph" : "@" + attribute.reference);
    } else {
      json.value(value);
    }
  };
  json.key("value");
  std::visit(write, attribute.value);
  json.end_object();
}

}  // namespace

std::string subject_json(const ViewSubject& subject) {
  JsonWriter json;
  json.begin_object();
  json.key("scenes");
  json.begin_array();
  json.value("main");
  if (subject.scene_count > 1) json.value("other");
  json.end_array();
  json.key("overlays");
  json.begin_array();
  for (size_t i = 0; i < subject.overlays.size(); ++i) {
    json.begin_object();
    json.field("id", std::to_string(i));
    json.field("title", subject.overlays[i]->title);
    json.field("what", subject.overlays[i]->what);
    json.end_object();
  }
  json.end_array();
  json.field("revision", subject.revision);
  json.field("tasks", subject.has_tasks);
  json.field("command", subject.command);
  json.end_object();
  return json.text();
}

std::string node_json(const results::NodeFacts& facts) {
  JsonWriter json;
  json.begin_object();
  json.field("name", facts.name);
  json.field("op", facts.op);
  json.field("domain", facts.domain);
  json.field("doc", facts.doc);
  write_list(json, "attributes", facts.attributes, write_attribute);
  formats::FieldWriter fields(json);
  fields("inputs", facts.inputs);
  fields("outputs", facts.outputs);
  json.key("metadata");
  json.begin_object();
  for (const auto& [key, value] : facts.metadata) json.field(key, value);
  json.end_object();
  json.key("origins");
  json.begin_array();
  json.end_array();
  json.key("cost");
  json.begin_object();
  json.field("macs", facts.macs);
  json.field("params", facts.params);
  json.field("bytes", facts.bytes);
  json.end_object();
  json.field("source", facts.source);
  json.end_object();
  return json.text();
}

std::string value_json(const results::ValueFacts& facts) { return formats::json_text(facts); }

std::string comparison_json(const results::ValueComparison& comparison) { return formats::json_text(comparison); }

std::string items_json(const std::vector<uint32_t>& items) {
  JsonWriter json;
  json.begin_object();
  write_list(json, "items", items, [](JsonWriter& list, uint32_t item) { list.value(static_cast<uint64_t>(item)); });
  json.end_object();
  return json.text();
}

}  // namespace assay::report
