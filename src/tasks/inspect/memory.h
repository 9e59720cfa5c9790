#pragma once

#include "tasks/inspect.h"

namespace assay::tasks {

// Memory that a run of the model takes; what the engine takes of it where the request wants that, for which it is
// built. Error (usage) for shapes that do not fit, or leave dims open where the engine is to be built.
results::MemoryNeeds inspect_memory(const InspectRequest& request, const LoadedModel& loaded,
                                    const ops::Inference& inference, Observer& observer);

}  // namespace assay::tasks
