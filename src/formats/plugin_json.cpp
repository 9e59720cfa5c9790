#include "formats/plugin_json.h"

namespace assay::formats {
namespace {

void write_value(JsonWriter& json, int64_t value) { json.value(value); }
void write_value(JsonWriter& json, float value) { json.value(static_cast<double>(value)); }
void write_value(JsonWriter& json, const std::string& value) { json.value(value); }

template <typename T>
void write_value(JsonWriter& json, const std::vector<T>& values) {
  json.begin_array();
  for (const T& value : values) write_value(json, value);
  json.end_array();
}

void write_instance(JsonWriter& json, const results::PluginInstance& instance) {
  json.begin_object();
  json.key("inputs");
  write_value(json, instance.inputs);
  json.key("outputs");
  write_value(json, instance.outputs);
  json.key("attributes");
  json.begin_object();
  for (const results::NamedAttribute& attribute : instance.attributes) {
    json.key(attribute.name);
    std::visit([&](const auto& value) { write_value(json, value); }, attribute.value);
  }
  json.end_object();
  json.end_object();
}

}  // namespace

void write_plugin(JsonWriter& json, const results::PluginMatches& plugin) {
  json.begin_object();
  json.field("name", plugin.name);
  json.field("op", plugin.op);
  json.field("domain", plugin.domain);
  json.key("instances");
  json.begin_array();
  for (const results::PluginInstance& instance : plugin.instances) write_instance(json, instance);
  json.end_array();
  json.end_object();
}

std::string plugin_json(const results::PluginMatches& plugin) {
  JsonWriter json;
  write_plugin(json, plugin);
  return json.text();
}

}  // namespace assay::formats
