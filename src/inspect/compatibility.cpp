#include "inspect/compatibility.h"

#include "ir/verify.h"

namespace assay::inspect {

results::BackendCompatibility inspect_compatibility(const ir::Model& model, const exec::Backend& backend,
                                                    const exec::LibrarySearch& search) {
  results::BackendCompatibility result;
  result.backend = backend.name();
  const exec::Probe probe = backend.probe(search);
  result.usable = probe.usable;
  result.version = probe.version;
  for (uint32_t i = 0; i < model.node_slots(); ++i) {
    const ir::Node& node = model[ir::NodeId{i}];
    result.node_count += node.alive && !node.is_outputs ? 1 : 0;
  }
  if (!probe.usable) return result;
  for (const exec::Refusal& refusal : backend.refusals(model, search)) {
    if (!refusal.node.valid()) {
      result.refused.push_back({"the model", "", refusal.reason});
      continue;
    }
    result.refused.push_back(
        {ir::describe(model, refusal.node), std::string(model.text(model[refusal.node].op)), refusal.reason});
  }
  return result;
}

}  // namespace assay::inspect
