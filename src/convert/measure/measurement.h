#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "calibrate/calibrate.h"
#include "calibrate/magnitudes.h"
#include "calibrate/moments.h"
#include "convert/measure/host.h"
#include "exec/data_source.h"
#include "results/conversion.h"

namespace assay::convert {

// The greater error of each kind.
results::LayerError worse(const results::LayerError& a, const results::LayerError& b);

// A model as it was before it is converted, with inputs, to be run on the backend of a host.
class Measurement {
 public:
  // `source` and `host` must outlive it. Error (usage) if there are no inputs.
  Measurement(ir::Model model, exec::DataSource& source, MeasuringHost& host, Diagnostics& findings);

  // Another copy of the model, to be edited.
  ir::Model copy() const { return model_.copy(); }
  // Multiply-accumulates of the nodes of the main graph for the first inputs; 0 where there are none, or inference
  // cannot tell.
  std::map<ir::NodeId, uint64_t> macs() const;
  // Magnitudes of the inputs and all float32 values of the main graph.
  calibrate::Magnitudes magnitudes();
  // Distributions of the values of these names.
  calibrate::Statistics statistics(const std::vector<std::string>& names, bool wants_histograms);
  // Second moments of the values of these names, over the last dim.
  std::map<std::string, calibrate::Moments> moments(const std::vector<std::string>& names);
  // Differences of values of the model from others of `shadowed`, which has both and takes the same inputs; by the
  // first of the two names.
  using NamePairs = std::map<std::string, std::string, std::less<>>;
  std::map<std::string, results::LayerError> differences(const ir::Model& shadowed, const NamePairs& pairs);
  // The errors of the main graph's values as computed by `converted`, by name. Values that it lacks are left out.
  std::map<std::string, results::LayerError> errors(const ir::Model& converted);
  // Share of rows (of the last dim) of the float outputs whose greatest element has the same place in `converted`: that
  // of the worst output;
  // empty: there is none.
  std::optional<double> top1_agreement(const ir::Model& converted);
  // The least time of a run over the inputs, in seconds; empty: the backend tells none.
  std::optional<double> seconds(const ir::Model& converted);
  // The errors of only the model's outputs.
  std::map<std::string, results::LayerError> output_errors(const ir::Model& converted);

 private:
  exec::TapPlan plan_taps() const;
  // `names`: of values that `converted` has.
  std::map<std::string, results::LayerError> errors_of(const ir::Model& converted,
                                                       const std::set<std::string_view>& names);
  std::vector<std::string> output_names() const;
  // The number of values for so many runners; 0 if it is not known.
  uint64_t value_count(const exec::TapPlan& taps, uint64_t runners) const;

  ir::Model model_;
  exec::DataSource& source_;
  MeasuringHost& host_;
  Diagnostics& findings_;
  exec::TapPlan taps_;
};

}  // namespace assay::convert
