#include "report/json_plugins.h"

#include "report/json_parts.h"

namespace assay::report {
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
  write_texts(json, "inputs", instance.inputs);
  write_texts(json, "outputs", instance.outputs);
  json.key("attributes");
  json.begin_object();
  for (const results::NamedAttribute& attribute : instance.attributes) {
    json.key(attribute.name);
    std::visit([&](const auto& value) { write_value(json, value); }, attribute.value);
  }
  json.end_object();
  json.end_object();
}

void write_plugin(JsonWriter& json, const results::PluginMatches& plugin) {
  json.begin_object();
  json.field("name", plugin.name);
  json.field("op", plugin.op);
  json.field("domain", plugin.domain);
  write_list(json, "instances", plugin.instances, write_instance);
  json.end_object();
}

}  // namespace

std::string plugins_json(const results::PluginReport& report) {
  JsonReport out(report.command);
  JsonWriter& json = out.json;
  json.field("model", report.model);
  json.field("output", report.output);
  write_list(json, "plugins", report.plugins, write_plugin);
  return out.end(report.findings, report.timings);
}

std::string plugin_json(const results::PluginMatches& plugin) {
  JsonWriter json;
  write_plugin(json, plugin);
  return json.text();
}

}  // namespace assay::report
