#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/view/container.h"
#include "results/scene.h"

namespace assay::report {

// The page as it is served: no data stands in it. It asks for the first scene before it reads its own script.
std::string served_page();
// Words for its policy, by which no scripts and styles but its own are obeyed.
std::string served_sources();

// A page that holds all it shows and works offline; only its own script runs in it. `containers` and `documents` by the
// ids that the page knows, as `scene/0` and `subject`.
struct ExportedPage {
  std::vector<std::pair<std::string, Container>> containers;
  std::vector<std::pair<std::string, std::string>> documents;  // JSON
};
std::string exported_page(const ExportedPage& page);

// The boxes of the whole model and their lines, all groups closed.
std::string scene_svg(const results::Scene& scene);

}  // namespace assay::report
