#pragma once

#include "backends/engine/devices.h"
#include "engine/plan/plan_models.h"
#include "engine/plan/saved_plan.h"

namespace assay::backends {

// Adds the code of all kernels in use to a plan, sealed by the user's key where there is one.
void add_code(engine::PlanSections& sections, const FoundDevices& devices);
// Offers the code of a plan, which must outlive what is made of it. Code without this user's seal is left out, with a
// warning, unless the plan `is_trusted`.
void offer_code(const engine::SavedPlan& plan, const FoundDevices& devices, bool is_trusted, Diagnostics& findings);

}  // namespace assay::backends
