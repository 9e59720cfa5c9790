#include "report/edit/json_plugins.h"

#include "formats/plugin_json.h"
#include "report/json_parts.h"

namespace assay::report {

std::string plugins_json(const results::PluginReport& report) {
  JsonReport out(report.command);
  JsonWriter& json = out.json;
  json.field("model", report.model);
  json.field("output", report.output);
  write_list(json, "plugins", report.plugins, formats::write_plugin);
  return out.end(report.findings, report.timings);
}

}  // namespace assay::report
