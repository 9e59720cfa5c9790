#include "report/json_plugins.h"

#include <algorithm>

#include "base/json.h"
#include "report/json_model.h"

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

void write_names(JsonWriter& json, std::string_view key, const std::vector<std::string>& names) {
  json.key(key);
  write_value(json, names);
}

void write_instance(JsonWriter& json, const results::PluginInstance& instance) {
  json.begin_object();
  write_names(json, "inputs", instance.inputs);
  write_names(json, "outputs", instance.outputs);
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
  json.key("instances");
  json.begin_array();
  for (const results::PluginInstance& instance : plugin.instances) write_instance(json, instance);
  json.end_array();
  json.end_object();
}

}  // namespace

std::string plugins_json(const results::PluginReport& report) {
  std::string schema = "assay/" + report.command + "/1";
  std::ranges::replace(schema, ' ', '-');
  JsonWriter json;
  json.begin_object();
  json.field("schema", schema);
  json.field("model", report.model);
  json.field("output", report.output);
  json.key("plugins");
  json.begin_array();
  for (const results::PluginMatches& plugin : report.plugins) write_plugin(json, plugin);
  json.end_array();
  json.key("findings");
  write_findings(json, report.findings);
  json.key("timings");
  write_timings(json, report.timings);
  json.end_object();
  return json.text();
}

}  // namespace assay::report
