#pragma once

#include <vector>

#include "engine/plan/manifest.h"
#include "results/engine_listing.h"

namespace assay::tasks {

// Places for the results of layers but the outputs of the model, found as the engine finds them.
std::vector<results::EngineBlock> memory_blocks(const std::vector<engine::LayerRecord>& layers,
                                                const std::vector<exec::Port>& outputs);

}  // namespace assay::tasks
