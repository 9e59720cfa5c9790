#pragma once

#include <string>

#include "report/view/container.h"
#include "results/overlay.h"
#include "results/scene.h"
#include "results/value_facts.h"

namespace assay::report {

// The columns of a scene, an overlay or a slice, which outlive them; `revision` counts the versions of the file that
// were seen.
Container scene_container(const results::Scene& scene, uint64_t revision,
                          Container::Numbers numbers = Container::Numbers::plain);
Container overlay_container(const results::Overlay& overlay, uint64_t revision,
                            Container::Numbers numbers = Container::Numbers::plain);
Container slice_container(const results::ValueSlice& slice);

}  // namespace assay::report
