#pragma once

#include <memory>
#include <vector>

#include "debug/accuracy/layer_rounding.h"

namespace assay::debug {

// A layer in runs with moved roundings. The first one or two say what all would allow at least, which is mostly enough;
// until the others are made, the layer keeps what they need.
struct LayerRuns {
  struct Operand {
    ir::ValueId value;                      // none where an optional one is left out
    Datum datum;                            // not of constants, if they are those of the model
    std::shared_ptr<LayerRuns> maker = {};  // the runs that made it, if they do not all give the same
    size_t result = 0;                      // of the maker
  };

  ir::NodeId node;
  std::vector<Datum> exact = {};
  std::vector<Operand> operands = {};  // operands of the node, then values that its bodies use from outside
  std::vector<float> deviations = {};  // instead, where sums of products take what a side shows
  std::vector<analysis::Samples> results = {};
  uint32_t runs = 0;
  size_t depth = 1;  // of layers whose runs are not complete

  bool is_complete() const { return runs == analysis::kMovedRuns; }
  bool is_certain(size_t result) const {
    return is_complete() && results[result].is_same() && results[result].unknown.empty();
  }
};

// Makes the runs.
class LayerRunner {
 public:
  // `constants` gives their values.
  LayerRunner(const ir::Model& model, LayerRounding& rounding, LayerOracle& oracle, OperandSource constants)
      : model_(model), rounding_(rounding), oracle_(oracle), constants_(std::move(constants)) {}

  // The first one, or all where it says nothing.
  void begin(LayerRuns& layer);
  // The second one, or all, also of the layers that it depends on.
  void go_on(LayerRuns& layer) { run(layer, layer.runs == 1 ? 2 : analysis::kMovedRuns); }

 private:
  void run(LayerRuns& layer, uint32_t runs);
  bool run_first(LayerRuns& layer, uint32_t runs);
  void run_all(LayerRuns& layer);
  void finish(LayerRuns& layer);
  Datum datum_of(const LayerRuns& layer, ir::ValueId value) const;
  LayerRounding::SamplesSource samples_of(const LayerRuns& layer, uint32_t runs) const;

  const ir::Model& model_;
  LayerRounding& rounding_;
  LayerOracle& oracle_;
  OperandSource constants_;
};

}  // namespace assay::debug
