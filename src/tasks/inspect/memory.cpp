#include "tasks/inspect/memory.h"

#include "analysis/memory_needs.h"
#include "base/temporary_folder.h"
#include "exec/backend.h"
#include "ir/edit.h"
#include "surgery/override_shapes.h"

namespace assay::tasks {
namespace {

// A plan for one size of each input says what its arena takes.
results::EngineMemory engine_memory(const ir::Model& model, const analysis::OpenSizes& sizes, Observer& observer) {
  ir::Model fixed = model.copy();
  std::vector<surgery::Boundary> shapes;
  for (const auto& [input, type] : analysis::sized_types(model, sizes)) {
    surgery::Boundary& boundary = shapes.emplace_back();
    boundary.name = model.text(model[input].name);
    boundary.shape.emplace();
    for (const ops::Dim& dim : *type.dims) boundary.shape->emplace_back(*dim.number());
  }
  Diagnostics ignored;
  surgery::override_shapes(fixed, shapes, ignored);
  const TemporaryFolder folder;
  const std::string plan = folder.path() / "memory.engine";
  exec::SessionOptions session;
  session.on_layer = layer_counter(observer);
  exec::plan_builder()->build_plan(fixed, session, plan, ignored);
  const results::EngineListing listing = inspect_engine({plan, ""}, observer);
  return {listing.memory_bytes, listing.packed_bytes};
}

}  // namespace

results::MemoryNeeds inspect_memory(const InspectRequest& request, const LoadedModel& loaded,
                                    const ops::Inference& inference, Observer& observer) {
  const analysis::OpenSizes sizes = analysis::open_sizes(loaded.model, request.shapes);
  results::MemoryNeeds needs = analysis::memory_needs(loaded.model, inference, sizes);
  if (request.measures_memory) needs.engine = engine_memory(loaded.model, sizes, observer);
  return needs;
}

}  // namespace assay::tasks
