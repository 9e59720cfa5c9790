#include "onnx/older_versions.h"

#include <set>

#include "ir/walk.h"
#include "schema/imports.h"
#include "schema/schema.h"

namespace assay::onnx {

bool is_same_in_opset(const ir::Model& model, int64_t version) {
  const int64_t own = schema::imported_version(model);
  if (!model.functions().empty()) return false;
  std::set<ir::Symbol> seen;
  for (const ir::NodeId id : ir::live_nodes(model)) {
    const ir::Node& node = model[id];
    if (!schema::canonical_domain(model.text(node.domain)).empty()) continue;
    if (!seen.insert(node.op).second) continue;
    const schema::Schema* const now = schema::find_schema("", model.text(node.op), own);
    if (now == nullptr || now != schema::find_schema("", model.text(node.op), version)) return false;
  }
  return true;
}

}  // namespace assay::onnx
