#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "exec/tap_plan.h"
#include "quantize/calibrate.h"
#include "quantize/ranges.h"
#include "tasks/convert/job.h"

namespace assay::tasks {

// The greater error of each kind.
results::LayerError worse(const results::LayerError& a, const results::LayerError& b);

// A copy of the model as it was before it is converted, with inputs, to be run on one backend.
class Measurement {
 public:
  // Errors of the inputs.
  Measurement(ConversionJob& job, std::string backend);

  // Another copy of the model, to be edited.
  ir::Model copy() const { return model_.copy(); }
  // Of the inputs and all float32 values of the main graph.
  quantize::Ranges ranges();
  // Of the values of these names, by each of the calibrations.
  std::vector<passes::ValueRanges> calibrate(const std::vector<std::string>& names,
                                             quantize::CalibrationOptions options);
  // How values of the model differ from others of `shadowed`, which has both and takes the same inputs; by the first of
  // the two names.
  using NamePairs = std::map<std::string, std::string, std::less<>>;
  std::map<std::string, results::LayerError> differences(const ir::Model& shadowed, const NamePairs& pairs);
  // The errors of the main graph's values as computed by `converted`, by name. Values that it lacks are left out.
  std::map<std::string, results::LayerError> errors(const ir::Model& converted);
  // The same for only the model's outputs.
  std::map<std::string, results::LayerError> output_errors(const ir::Model& converted);

 private:
  exec::TapPlan plan_taps() const;
  // `names`: of values that `converted` has.
  std::map<std::string, results::LayerError> errors_of(const ir::Model& converted,
                                                       const std::set<std::string_view>& names);
  // Its values count as steps of `progress`; so does a run without values.
  exec::RunnerPtr runner(const ir::Model& model, const exec::TapPlan& taps, const std::string& name,
                         Counter& progress) const;
  // Of so many runners; 0 where it is not known.
  uint64_t value_count(const exec::TapPlan& taps, uint64_t runners) const;

  Observer& observer_;
  std::string backend_;
  exec::SessionOptions session_;
  ir::Model model_;
  Diagnostics& findings_;
  InputData data_;
  exec::TapPlan taps_;
};

}  // namespace assay::tasks
