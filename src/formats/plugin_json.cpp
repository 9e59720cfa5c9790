#include "formats/plugin_json.h"

#include "formats/json/field_writer.h"
#include "results/fields/edit.h"

namespace assay::formats {

std::string plugin_json(const results::PluginMatches& plugin) { return json_text(plugin); }

}  // namespace assay::formats
