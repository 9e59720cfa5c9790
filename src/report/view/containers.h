#pragma once

#include <string>

#include "report/view/container.h"
#include "results/overlay.h"
#include "results/scene.h"
#include "results/value_facts.h"

namespace assay::report {

// The columns of a scene; `revision` counts the versions of the file that were seen.
std::string scene_container(const results::Scene& scene, uint64_t revision,
                            Container::Numbers numbers = Container::Numbers::plain);
std::string overlay_container(const results::Overlay& overlay, uint64_t revision,
                              Container::Numbers numbers = Container::Numbers::plain);
std::string slice_container(const results::ValueSlice& slice);

}  // namespace assay::report
