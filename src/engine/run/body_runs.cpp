#include "engine/run/body_runs.h"

namespace assay::engine {

std::optional<std::vector<tensor::Datum>> BodyRuns::run_body(ir::GraphId body, std::span<const tensor::Datum> inputs,
                                                             const Outer& outer) {
  const auto found = bodies_.find(body);
  if (found == bodies_.end()) return std::nullopt;
  const BodyPart& known = *found->second;
  if (inputs.size() + known.outer.size() != known.part.model()[known.part.model().main_graph()].inputs.size())
    return std::nullopt;
  std::vector<tensor::Datum> given(inputs.begin(), inputs.end());
  for (const ir::ValueId value : known.outer) given.push_back(outer(value));
  return runs_.try_emplace(body, known.part, place_).first->second.run(given);
}

}  // namespace assay::engine
