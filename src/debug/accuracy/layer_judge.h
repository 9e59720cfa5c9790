#pragma once

#include <string>
#include <vector>

#include "debug/accuracy/side.h"
#include "results/culprit.h"

namespace assay::debug {

// One layer, computed exactly on what a side gave it.
struct SideLayer {
  ir::NodeId node;
  uint64_t index = 0;  // of the node
  size_t side = 0;
  std::vector<Datum> exact = {};
  RoughAllowance rough = {};
  std::shared_ptr<LayerRuns> runs = {};  // with moved roundings, once they are needed
};

// The judgement of one result.
struct Judged {
  compare::Allowance allowance = {};
  bool is_of_type = false;       // only numbers beyond the range of the type are wrong
  bool is_out_of_range = false;  // right, but infinite or NaN for finite operands
  bool is_kept_wide = false;     // layers just before it show infinity, but the result was computed from other numbers
  std::string unknown = {};      // reason for not judging it
  QuantizerFault quantizer_fault = {};  // of its model
};

// Judges the results of single layers of one side.
class LayerJudge {
 public:
  // All must outlive it.
  LayerJudge(const ir::Model& model, Side& side, LayerOracle& oracle) : model_(model), side_(side), oracle_(oracle) {}

  // Computes it on what its model has in codes, where these are sound.
  void use_codes(SideLayer& layer);
  // Begins to run it with moved roundings.
  void begin_runs(SideLayer& layer);
  // Fills the numbers of `error`; nothing is wrong where its excess is at most 1. `truth`: of the result.
  Judged judge(SideLayer& layer, size_t result, const Datum& given, const Datum& truth, results::LayerVerdict& error);

 private:
  // On the codes of its model, beside what these and roundings explain.
  Judged judge_quantized(const SideLayer& layer, size_t result, const Datum& given, results::LayerVerdict& error);
  Judged judge_result(SideLayer& layer, size_t result, const Datum& given, results::LayerVerdict& error);
  std::map<ir::ValueId, Datum> sound_operands(ir::NodeId node, QuantizerFault& first_fault) const;
  double bias_step(ir::NodeId node) const;
  void allow_bias_step(ir::NodeId node, const Datum& exact, const Datum& given, results::LayerVerdict& error) const;
  double unit_of(ir::ValueId value) const;
  Judged judge_closely(SideLayer& layer, size_t result, const Datum& given, results::LayerVerdict& error);
  bool judge_as_merged(const SideLayer& layer, size_t result, const std::vector<double>& numbers,
                       results::LayerVerdict& error);
  bool leaves_range(ir::NodeId node, const Datum& truth, const Datum& given) const;
  compare::Allowance allowance_of(SideLayer& layer, size_t result);
  LayerRunner runner();

  const ir::Model& model_;
  Side& side_;
  LayerOracle& oracle_;
};

// True if no element is infinite or NaN.
bool are_finite(const Datum& datum);

}  // namespace assay::debug
