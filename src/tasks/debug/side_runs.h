#pragma once

#include <functional>
#include <set>

#include "debug/accuracy/walk.h"
#include "debug/causes/counterpart.h"
#include "exec/backend.h"
#include "formats/saved_data.h"
#include "tasks/culprit.h"

namespace assay::tasks {

// The run of another model: its values by those of the model that they correspond to.
struct OtherRun {
  debug::SideValues side;
  debug::Counterpart counterpart;  // holds the other model by reference
  results::LayerMatches matches;
};

// The runs whose layers are judged.
class SideRuns {
 public:
  SideRuns(const AccuracyRequest& request, const ir::Model& model, const tensor::NamedData& inputs, Observer& observer);

  // The values that each side gives. Error (usage) if there is no side.
  std::vector<debug::SideValues> collect();
  OtherRun run_other(const ir::Model& other) const;
  // Adds facts that a run with all values asked for does not show: whether the outputs move when values are not asked
  // for, and whether a second run gives the same bits. By the side's number; nothing for saved results.
  void add_looks(std::vector<results::AccuracySide>& sides) const;
  // The model's outputs in a run of this backend with nothing else asked for.
  tensor::NamedData outputs(const std::string& backend, const ir::Model& model, const exec::Settings& settings) const;

 private:
  struct Look {
    std::optional<bool> is_deterministic;
    std::optional<double> probe_effect;
  };
  // The outputs with nothing else asked for, and whether they are the same in a second run.
  struct Alone {
    tensor::NamedData outputs;
    bool is_deterministic = true;
  };

  // The other model's values beside those of the model, before it runs.
  OtherRun paired(const ir::Model& other) const;
  // Runs the other model, and hands over the wanted values, as far as there are such.
  void run_for(const std::string& backend, const ir::Model& other, const std::set<std::string_view>& wanted,
               const std::function<void(std::string_view, const tensor::Datum&)>& take) const;
  exec::BackendPtr make(const std::string& backend) const;
  debug::SideValues run(const std::string& backend, const std::string& name);
  Alone run_alone(const std::string& backend) const;
  // Runs with all values asked for. Returns how far the outputs move.
  double run_tapped(const std::string& backend, const tensor::NamedData& alone, debug::SideValues& side) const;
  debug::SideValues load(const formats::SavedRun& run) const;
  std::unique_ptr<exec::Session> prepare(const std::string& backend, const ir::Model& model,
                                         const exec::Settings& settings) const;
  tensor::NamedData run_once(exec::Execution& execution) const;

  const AccuracyRequest& request_;
  const ir::Model& model_;
  std::vector<exec::Feed> feeds_;
  Observer& observer_;
  std::map<std::string_view, ir::ValueId> names_;
  std::vector<std::string> outputs_;
  std::vector<Look> looks_;
};

}  // namespace assay::tasks
