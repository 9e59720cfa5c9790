#include "backends/engine/planned.h"

#include <set>

#include "base/error.h"
#include "base/text.h"

namespace assay::backends {

Planned::Planned(Lowered lowered, const engine::Devices& devices, engine::ProgramOptions options,
                 std::span<const std::string> values)
    : lowered_(std::move(lowered)), options_(std::move(options)) {
  for (const std::string& value : values) {
    if (const ir::ValueId found = lowered_.current(value); found.valid()) options_.kept.push_back(found);
  }
  check_replay();
  program_.emplace(lowered_.model(), devices, options_);
}

void Planned::check_replay() const {
  if (options_.tactics.replayed.empty()) return;
  const ir::Model& model = lowered_.model();
  std::set<std::string_view> layers;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) layers.insert(engine::layer_name(model, node));
  for (const auto& [layer, tactic] : options_.tactics.replayed) {
    if (layers.contains(layer)) continue;
    throw Error(ErrorCode::usage, fmt::format("the engine makes no layer `{}` of the model", printable(layer)))
        .about("load_tactics");
  }
}

}  // namespace assay::backends
